import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ReferenceImage, VideoAsk, VideoCreation } from '../../core/videos/video-wire.ts';

/**
 * Seconds, and the least there is. A job that has not ended by then has been given up by us (VID-7), and the vendor would charge for
 * what nobody gets.
 */
const EXPIRES_AFTER = 3_600;

/**
 * The vendor still reads commands at the end of a prompt, such as `--dur 12`. These would change what the video costs after its price
 * has been agreed on. https://www.volcengine.com/docs/82379/1520757
 */
const costlyCommand = /--\s*(?:resolution|rs|ratio|rt|duration|dur|frames|framespersecond|fps)(?![a-z])/i;

/** Throws GatewayError. */
export const refuseCommands = ({ prompt }: VideoAsk): void => {
  const command = costlyCommand.exec(prompt)?.[0];
  if (command === undefined) return;
  throw invalidRequest('prompt', `prompt: must not hold the command ${command}. Use seconds and size instead.`);
};

/** https://docs.byteplus.com/en/docs/ModelArk/1520757 */
export const toArkVideoRequest = (creation: VideoCreation): JsonObject => {
  const { upstreamModel, prompt, seconds, width, height, reference } = creation;
  const divisor = greatestDivisor(width, height);
  return {
    model: upstreamModel,
    content: [{ type: 'text', text: prompt }, ...(reference ? [firstFrame(reference)] : [])],
    ratio: `${width / divisor}:${height / divisor}`,
    resolution: `${Math.min(width, height)}p`,
    duration: seconds,
    generate_audio: true,
    watermark: false,
    execution_expires_after: EXPIRES_AFTER,
  };
};

const firstFrame = ({ mediaType, bytes }: ReferenceImage): JsonObject => ({
  type: 'image_url',
  image_url: { url: `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}` },
  role: 'first_frame',
});

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
