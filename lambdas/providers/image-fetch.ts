import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { sniffImage } from '../core/image-type.ts';
import type { FetchedImage } from '../core/text/text-wire.ts';
import {
  createGuardedLookup,
  type LookupAll,
  parsePublicUrl,
  problemOf,
  publicWeb,
  type Reach,
  requestPublic,
} from './public-address.ts';

interface ImageFetchOptions {
  /** Field that holds the URL. The error names it. */
  readonly param: string;
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /**
   * Called with the declared length before the body is read, which waits for the result. Throws to reject the image.
   */
  readonly admit?: (declaredBytes: number | undefined) => Promise<void> | undefined;
  /** Called with the number of bytes of each piece that arrives. Throws to reject the image. */
  readonly received?: (bytes: number) => void;
}

/**
 * Fetches an image that a client sent as a URL (CHAT-6). Throws `invalid_image_format` for every failure, and the
 * reason of the caller's signal if that is aborted. All failures before an HTTP response have the same message, so that
 * errors do not reveal internal names and addresses.
 */
export type ImageFetch = (url: string, options: ImageFetchOptions) => Promise<FetchedImage>;

interface ImageFetchDependencies {
  readonly lookup: LookupAll;
  /** Limit in ms for all steps: DNS, connections, redirects and body. */
  readonly timeoutMs?: number;
  /** Only tests set it, because their server is not public. */
  readonly reach?: Reach;
}

interface Trip {
  readonly fail: (text: string, cause?: unknown) => GatewayError;
  readonly bytesMax: number;
  readonly admit: NonNullable<ImageFetchOptions['admit']>;
  readonly received: NonNullable<ImageFetchOptions['received']>;
  readonly signal: AbortSignal;
  readonly lookup: LookupFunction;
  readonly reach: Reach;
}

const TIMEOUT_MS = 10_000;

const REDIRECTS_MAX = 3;

const URL_CHARACTERS_MAX = 8_192;

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const headers = {
  'user-agent': 'model-gateway-image-fetch/1',
  accept: 'image/png, image/jpeg, image/webp, image/*;q=0.1',
  'accept-encoding': 'identity',
};

const unreachable =
  'no image could be fetched from this URL. Use a public URL that responds quickly, or send the image as a base64 data URI.';

export const createImageFetch = (deps: ImageFetchDependencies): ImageFetch => {
  const reach = deps.reach ?? publicWeb;
  const lookup = createGuardedLookup(deps.lookup, reach.address);
  return async (url, { param, bytesMax, signal, admit, received = () => undefined }) => {
    signal?.throwIfAborted();
    const late = new AbortController();
    const startTimer = () => setTimeout(() => late.abort(), deps.timeoutMs ?? TIMEOUT_MS);
    let timer = startTimer();
    // The server did not cause the wait, so its time starts again.
    const admitInTime: Trip['admit'] = (bytes) => {
      const room = admit?.(bytes);
      if (!room) return undefined;
      clearTimeout(timer);
      return room.finally(() => {
        timer = startTimer();
      });
    };
    const fail: Trip['fail'] = (text, cause) =>
      new GatewayError('invalid_image_format', `${param}: ${text}`, { param, cause });
    const ends = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    try {
      return await fetchImage(url, { fail, bytesMax, admit: admitInTime, received, signal: ends, lookup, reach });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
};

const fetchImage = async (start: string, trip: Trip): Promise<FetchedImage> => {
  let url = parseStart(start, trip);
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const response = await request(url, trip);
    try {
      if (!redirects.has(response.statusCode ?? 0)) return await readImage(response, trip);
      url = nextUrl(response.headers.location, url, trip);
    } finally {
      response.destroy();
    }
  }
  throw trip.fail(`this URL redirects more than ${REDIRECTS_MAX} times. Use the final URL.`);
};

const parseStart = (text: string, { reach, fail }: Trip): URL => {
  const url = parsePublicUrl(text, { charactersMax: URL_CHARACTERS_MAX, reach, inner: unreachable });
  if ('problem' in url) throw fail(url.problem);
  return url;
};

/** Rejects a redirect from https to http, because anyone on the network could then replace the image. */
const nextUrl = (location: string | undefined, from: URL, trip: Trip): URL => {
  const url = location === undefined ? null : URL.parse(location, from.href);
  const downgrade = from.protocol === 'https:' && url?.protocol === 'http:';
  if (!url || downgrade || problemOf(url, trip.reach, unreachable)) throw trip.fail(unreachable);
  return url;
};

const request = (url: URL, { lookup, signal, fail }: Trip): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = requestPublic(url, { method: 'GET', headers, lookup, signal });
    sent.on('error', (error) => reject(fail(unreachable, error)));
    // A switch of protocols (101) ends the request without an error.
    sent.once('close', () => reject(fail(unreachable)));
    sent.once('response', resolve);
    sent.end();
  });

const readImage = async (response: IncomingMessage, trip: Trip): Promise<FetchedImage> => {
  if (response.statusCode !== 200) {
    throw trip.fail(`the server of this URL returned ${response.statusCode}. Use a public URL.`);
  }
  const encoding = response.headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') {
    throw trip.fail('the server of this URL sends the image compressed. Use a URL without compression.');
  }
  const bytes = await readBody(response, trip);
  const mediaType = sniffImage(bytes);
  if (!mediaType) throw trip.fail('must be a PNG, JPEG or WebP image.');
  return { mediaType, bytes };
};

const readBody = async (response: IncomingMessage, { bytesMax, admit, received, fail }: Trip): Promise<Buffer> => {
  const tooLarge = (): GatewayError => fail(`the image is larger than ${bytesMax} bytes.`);
  const declared = Number(response.headers['content-length'] ?? Number.NaN);
  if (declared > bytesMax) throw tooLarge();
  await admit(Number.isSafeInteger(declared) ? declared : undefined);
  const pieces: AsyncIterable<Uint8Array> = response;
  const body = collect();
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > bytesMax) throw tooLarge();
      received(piece.length);
      body.add(piece);
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : fail(unreachable, error);
  }
  return body.whole();
};

const BLOCK_BYTES = 64 * 1024;

/** Copies into blocks, because separate pieces of a body that arrives byte by byte would take a hundred times its size. */
const collect = () => {
  const blocks: Buffer[] = [];
  let block = Buffer.alloc(0);
  let used = 0;
  return {
    add: (piece: Uint8Array): void => {
      for (let at = 0; at < piece.length; ) {
        if (used === block.length) {
          blocks.push(block);
          block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
          used = 0;
        }
        const part = piece.subarray(at, at + block.length - used);
        block.set(part, used);
        used += part.length;
        at += part.length;
      }
    },
    whole: (): Buffer => Buffer.concat([...blocks, block.subarray(0, used)]),
  };
};
