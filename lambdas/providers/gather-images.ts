import { GatewayError } from '../core/errors/gateway-error.ts';
import type { ImagePart } from '../core/text/conversation.ts';
import type { FetchedImage, ImageFetch } from './image-fetch.ts';

/**
 * Limit in bytes for all images of a request. An image counts once for each of its uses, because the request contains
 * it each time.
 */
const BYTES_MAX = 20 * 1024 * 1024;

const ADDRESSES_MAX = 20;

const AT_ONCE = 4;

const GATHER_MS = 60_000;

type GatheredImages = ReadonlyMap<string, FetchedImage>;

/**
 * Fetches the images that a client sent as URLs, each once and a few at a time (CHAT-6). The first failure ends the
 * others.
 */
export const gatherImages = async (images: readonly ImagePart[], fetchImage: ImageFetch): Promise<GatheredImages> => {
  const uses = Map.groupBy(images, ({ url }) => url);
  const gathered = new Map<string, FetchedImage>();
  const ended = new AbortController();
  const waiting = uses.entries();
  let bytesLeft = BYTES_MAX;
  refuseMany(uses);
  const late = setTimeout(() => ended.abort(tooSlow(images)), GATHER_MS);
  const worker = async (): Promise<void> => {
    for (const [url, parts] of waiting) {
      const { param } = parts[0] ?? { param: 'messages' };
      const bytesMax = Math.floor(bytesLeft / parts.length);
      if (bytesMax <= 0) throw tooLarge(param);
      const fetched = await fetchImage(url, { param, bytesMax, signal: ended.signal });
      bytesLeft -= fetched.bytes.length * parts.length;
      if (bytesLeft < 0) throw tooLarge(param);
      gathered.set(url, fetched);
    }
  };
  const untilFailed = async (): Promise<void> => {
    try {
      await worker();
    } catch (error) {
      ended.abort(error);
      throw error;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, uses.size) }, untilFailed));
    return gathered;
  } finally {
    clearTimeout(late);
  }
};

const refusal = (param: string, text: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${text}`, { param });

const refuseMany = (uses: ReadonlyMap<string, readonly ImagePart[]>): void => {
  const [, parts] = [...uses].at(ADDRESSES_MAX) ?? [];
  if (!parts?.[0]) return;
  const message = `this model accepts at most ${ADDRESSES_MAX} images by URL. Send the others as data URIs.`;
  throw refusal(parts[0].param, message);
};

const tooLarge = (param: string): GatewayError =>
  refusal(param, `the images of a request can have at most ${BYTES_MAX} bytes together. Send fewer or smaller images.`);

const tooSlow = ([first]: readonly ImagePart[]): GatewayError =>
  refusal(first?.param ?? 'messages', 'the images of this request took too long to fetch. Send them as data URIs.');
