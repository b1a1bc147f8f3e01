import { GatewayError } from '../core/errors/gateway-error.ts';
import type { FetchedImages } from '../core/text/text-wire.ts';
import type { ImageFetch } from './image-fetch.ts';

/** An image that a client sent as a URL, and the field that holds it. */
interface ImageUrl {
  readonly url: string;
  readonly param: string;
}

/**
 * Limit in bytes for all images of a request. An image counts once for each of its uses, because the request contains
 * it each time.
 */
const BYTES_MAX = 20 * 1024 * 1024;

const ADDRESSES_MAX = 20;

const AT_ONCE = 4;

const GATHER_MS = 60_000;

/** Memory that an open connection takes before its image is read. */
const CONNECTION_BYTES = 256 * 1024;

/**
 * Fetches the images that a client sent as URLs, each once and a few at a time (CHAT-6). The first failure ends the
 * others. Images that are already fetched are not fetched again, but count.
 */
export const gatherImages = async (
  images: readonly ImageUrl[],
  fetchImage: ImageFetch,
  { byUrl, memory }: FetchedImages,
): Promise<void> => {
  const uses = Map.groupBy(images, ({ url }) => url);
  refuseMany(uses);
  const share = createShare(memory);
  const waiting: (readonly [string, readonly ImageUrl[]])[] = [];
  for (const [url, parts] of uses) {
    const fetched = byUrl.get(url);
    if (fetched) share.keep(fetched.bytes.length * parts.length);
    else waiting.push([url, parts]);
  }
  const next = waiting.values();
  const ended = new AbortController();
  const late = setTimeout(() => ended.abort(tooSlow(images)), GATHER_MS);
  const worker = async (): Promise<void> => {
    for (const [url, parts] of next) {
      const { param } = parts[0] ?? { param: 'messages' };
      const room = share.connect();
      if (room) await room;
      ended.signal.throwIfAborted();
      const part = share.partOf(param, parts.length);
      const fetched = await fetchImage(url, { param, signal: ended.signal, ...part });
      part.received(fetched.bytes.length - part.receivedBytes());
      byUrl.set(url, fetched);
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
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting.length) }, untilFailed));
    share.settle();
  } finally {
    clearTimeout(late);
  }
};

/** Divides `BYTES_MAX` among the images of a request as they arrive, and reserves memory for them. */
const createShare = (memory: FetchedImages['memory']) => {
  let bytesLeft = BYTES_MAX;
  let announcedBytes = 0;
  /** Announced bytes, where an image without a length counts with the limit. */
  let expectedBytes = 0;
  const keep = (bytes: number): void => {
    bytesLeft -= bytes;
    announcedBytes += bytes;
    expectedBytes += bytes;
  };
  const expect = (bytes: number): Promise<void> | undefined => {
    const before = Math.min(BYTES_MAX, expectedBytes);
    expectedBytes += bytes;
    const more = Math.min(BYTES_MAX, expectedBytes) - before;
    return more > 0 ? memory.reserve(more) : undefined;
  };
  return {
    keep,
    connect: () => expect(CONNECTION_BYTES),
    settle: (): void => memory.settle(BYTES_MAX - bytesLeft),
    /** Limits of one image that the request contains `uses` times. Throws `invalid_image_format` above them. */
    partOf: (param: string, uses: number) => {
      let receivedBytes = 0;
      const bytesMax = Math.floor(bytesLeft / uses);
      if (bytesMax <= 0) throw tooLarge(param);
      return {
        bytesMax,
        receivedBytes: () => receivedBytes,
        admit: (declaredBytes: number | undefined): Promise<void> | undefined => {
          announcedBytes += (declaredBytes ?? 0) * uses;
          if (announcedBytes > BYTES_MAX) throw tooLarge(param);
          return expect(Math.max(0, (declaredBytes ?? BYTES_MAX) * uses - CONNECTION_BYTES));
        },
        received: (bytes: number): void => {
          receivedBytes += bytes;
          bytesLeft -= bytes * uses;
          if (bytesLeft < 0) throw tooLarge(param);
        },
      };
    },
  };
};

const refusal = (param: string, text: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${text}`, { param });

const refuseMany = (uses: ReadonlyMap<string, readonly ImageUrl[]>): void => {
  const [, parts] = [...uses].at(ADDRESSES_MAX) ?? [];
  if (!parts?.[0]) return;
  const message = `this model accepts at most ${ADDRESSES_MAX} images by URL. Send the others as data URIs.`;
  throw refusal(parts[0].param, message);
};

const tooLarge = (param: string): GatewayError =>
  refusal(param, `the images of a request can have at most ${BYTES_MAX} bytes together. Send fewer or smaller images.`);

const tooSlow = ([first]: readonly ImageUrl[]): GatewayError =>
  refusal(first?.param ?? 'messages', 'the images of this request took too long to fetch. Send them as data URIs.');
