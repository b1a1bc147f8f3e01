import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { ImagePart, VideoPart } from '../../core/text/conversation.ts';
import type { FetchedImage } from '../image-fetch.ts';

/** A part that gets its bytes before the request is sent. */
export interface ImageSlot {
  readonly image: ImagePart;
  readonly fill: (fetched: FetchedImage) => void;
}

const HEAD_CHARACTERS_MAX = 256;
/** Enough of base64 for the first 12 bytes. */
const SNIFFED_CHARACTERS = 24;
const dataUri = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9=.+-]+)*;base64,/i;

/**
 * https://ai.google.dev/gemini-api/docs/image-understanding, .../video-understanding: bytes stand in the request, and of links the
 * vendor opens only those to its own video platform.
 */
export const toMediaPart = (part: ImagePart | VideoPart, slots: ImageSlot[]): JsonObject => {
  if (!/^https?:/i.test(part.url)) return toInlinePart(part);
  if (part.kind === 'video') return { fileData: { fileUri: part.url } };
  const filled: Record<string, JsonValue> = {};
  slots.push({
    image: part,
    fill: ({ mediaType, bytes }) => {
      filled.inlineData = { mimeType: mediaType, data: bytes.toString('base64') };
    },
  });
  return filled;
};

/** An image is what its first bytes say; of a video only the client knows. */
const toInlinePart = ({ kind, url, param }: ImagePart | VideoPart): JsonObject => {
  const [head, declared] = dataUri.exec(url.slice(0, HEAD_CHARACTERS_MAX)) ?? [];
  if (head === undefined || declared === undefined) {
    throw invalidRequest(param, `${param}: must be an http(s) URL or a base64 data URI.`);
  }
  const data = url.slice(head.length);
  const mimeType =
    kind === 'video' ? declared.toLowerCase() : sniffImage(Buffer.from(data.slice(0, SNIFFED_CHARACTERS), 'base64'));
  if (!mimeType) {
    const message = `${param}: must be a PNG, JPEG or WebP image.`;
    throw new GatewayError('invalid_image_format', message, { param });
  }
  return { inlineData: { mimeType, data } };
};
