import * as z from 'zod';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { ReferenceImage, VideoAsk, VideoCreation, VideoStatus, VideoWire } from '../../core/videos/video-wire.ts';
import type { LinkedVideo } from '../linked-video.ts';
import type { RefusalContext } from '../refusals.ts';
import type { WireOptions } from '../vendor-call.ts';
import { createJob, openVideo, pollJob, toFailure } from '../video-answers.ts';
import { isAboutAccount, isFiltered, parseArkRefusal, toArkError } from './errors.ts';

const TASKS = '/contents/generations/tasks';

interface ArkVideoOptions extends WireOptions {
  readonly linkedVideo: LinkedVideo;
}

/** Wire for the provider's video tasks: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
export const createArkVideoWire = ({ linkedVideo, ...options }: ArkVideoOptions): VideoWire => ({
  check: refuseCommands,
  create: async (creation) => {
    const { provider, signal } = creation;
    return createJob(options, {
      provider,
      path: TASKS,
      body: toArkVideoRequest(creation),
      signal,
      refuse: toArkError,
    });
  },
  poll: (job) =>
    pollJob(options, job, {
      path: `${TASKS}/${encodeURIComponent(job.upstreamId)}`,
      toStatus: (body, refusalContext) =>
        toArkStatus(body, refusalContext, { linkedVideo, baseUrl: options.access(job.provider.id).baseUrl }),
      isGone,
      refuse: toArkError,
    }),
});

/**
 * Whether the job does not exist. The provider also returns 404 for a model that the gateway's account cannot use,
 * which does not mean that the job is missing.
 */
const isGone = (status: number, body: JsonValue): boolean => {
  const refusal = parseArkRefusal(body);
  if (isAboutAccount(refusal)) return false;
  return status === 404 || (status === 400 && /^(?:NotFound(?:\.|$)|ResourceNotFound)/.test(refusal.code));
};

/**
 * Expiry of a task in seconds; this is the provider's minimum. The gateway ends the job earlier (VID-7), so the
 * provider would charge for a later result that no client gets.
 */
const EXPIRES_AFTER = 3_600;

/**
 * The provider still reads commands at the end of a prompt, such as `--dur 12`. They would change the cost of the video
 * after its price was fixed. https://www.volcengine.com/docs/82379/1520757
 */
const costlyCommand = /--\s*(?:resolution|rs|ratio|rt|duration|dur|frames|framespersecond|fps)(?![a-z])/i;

/** Throws the 400 for a command that changes the cost. */
const refuseCommands = ({ prompt }: VideoAsk): void => {
  const command = costlyCommand.exec(prompt)?.[0];
  if (command === undefined) return;
  throw invalidRequest('prompt', `prompt: must not contain the command ${command}. Use seconds and size instead.`);
};

/** Source: https://docs.byteplus.com/en/docs/ModelArk/1520757 */
const toArkVideoRequest = (creation: VideoCreation): JsonObject => {
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

const URL_CHARACTERS_MAX = 8_192;

/** An impossibly large count stays large, because it is charged at its bound (BILL-7). */
const wholeCount = z
  .custom<number>((value) => Number.isInteger(value) && Number(value) >= 0)
  .transform((count) => Math.min(count, Number.MAX_SAFE_INTEGER))
  .optional()
  .catch(undefined);

/** Source: https://docs.byteplus.com/en/docs/ModelArk/1521309 */
const task = z.object({ status: z.string() });

const content = z.object({
  content: z.object({ video_url: z.url({ protocol: /^https?$/ }).max(URL_CHARACTERS_MAX) }),
});

const usage = z.object({ usage: z.object({ completion_tokens: wholeCount }) });

interface FileReach {
  readonly linkedVideo: LinkedVideo;
  /** Base URL of the provider. */
  readonly baseUrl: string;
}

/** Status of a task. Anything uncertain is `unknown`. */
const toArkStatus = (body: JsonValue, refusalContext: RefusalContext, reach: FileReach): VideoStatus => {
  switch (task.safeParse(body).data?.status) {
    case 'queued':
      return { kind: 'queued' };
    case 'running':
      return { kind: 'running', progress: undefined };
    case 'succeeded':
      return succeeded(body, reach);
    case 'failed':
      return failed(body, refusalContext);
    case 'cancelled':
      return { kind: 'failed', failure: toFailure('upstream_error', 'Cancelled.', refusalContext.secret) };
    case 'expired':
      return { kind: 'failed', failure: toFailure('upstream_error', 'Expired.', refusalContext.secret) };
    default:
      return { kind: 'unknown' };
  }
};

/** The URL is signed for a day and needs no key. It is on another host, which must not get the provider key. */
const succeeded = (body: JsonValue, { linkedVideo, baseUrl }: FileReach): VideoStatus => {
  const url = content.safeParse(body).data?.content.video_url;
  // Rejects a change from https to http.
  if (url === undefined || (url.startsWith('http:') && !baseUrl.startsWith('http:'))) return { kind: 'unknown' };
  return {
    kind: 'succeeded',
    tokens: usage.safeParse(body).data?.usage.completion_tokens,
    open: () => openVideo((signal) => linkedVideo({ url, baseUrl, signal })),
  };
};

const failed = (body: JsonValue, refusalContext: RefusalContext): VideoStatus => {
  const refusal = parseArkRefusal(body);
  const isOurs = isAboutAccount(refusal);
  if (isOurs) refusalContext.notice('vendor_refused_us');
  const code = isFiltered(refusal) ? 'content_filter' : 'upstream_error';
  return { kind: 'failed', failure: toFailure(code, isOurs ? '' : refusal.message, refusalContext.secret) };
};
