import { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { isLocalFailure } from './local-failure.ts';
import {
  createGuardedLookup,
  type LookupAll,
  problemOf,
  publicWeb,
  type Reach,
  requestPublic,
} from './public-address.ts';

export interface ResultLink {
  /** URL exactly as in the provider's response. */
  readonly url: string;
  /** Base URL of the provider. The link can be plain http only if this URL is. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
}

/**
 * Downloads a file that a provider's response links to. Such links are valid for minutes. The request has no provider
 * key, and over https it never reaches an internal address, whatever the provider sent. Throws `upstream_error`, or the
 * signal's reason if that is aborted.
 */
export type ResultDownload = (link: ResultLink) => Promise<Uint8Array>;

export interface ResultDownloadDependencies {
  readonly lookup?: LookupAll;
  readonly bytesMax?: number;
  /** Only tests set it, because their server is not public. */
  readonly reach?: Reach;
}

interface Trip {
  readonly secureLookup: LookupFunction;
  readonly plainLookup: LookupFunction;
  readonly reach: Reach;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** Failure that a second try can resolve. */
class Broken extends Error {}

const BYTES_MAX = 64 * 1024 * 1024;
const REDIRECTS_MAX = 3;
const URL_CHARACTERS_MAX = 8_192;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const headers = { accept: 'image/*, */*;q=0.1', 'accept-encoding': 'identity' };

export const createResultDownload = (deps: ResultDownloadDependencies = {}): ResultDownload => {
  const { lookup = systemLookup, reach = publicWeb, bytesMax = BYTES_MAX } = deps;
  const secureLookup = createGuardedLookup(lookup, reach.address);
  const plainLookup = createGuardedLookup(lookup, () => true);
  return async ({ url: text, baseUrl, signal }) => {
    const trip = { secureLookup, plainLookup, reach, bytesMax, signal };
    const url = reachableLink(text, baseUrl, reach);
    if (!url) throw notFetched();
    try {
      // One retry is allowed because downloads are free: GEN-5 concerns paid calls.
      return await follow(url, trip).catch((error) => {
        if (!(error instanceof Broken) || signal.aborted) throw error;
        return follow(url, trip);
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Broken ? notFetched(error.cause) : error;
    }
  };
};

/** URL of a link in a provider's response, if it may be opened. Plain http only for a provider that itself uses it. */
export const reachableLink = (text: string, baseUrl: string, reach: Reach): URL | undefined => {
  const url = text.length > URL_CHARACTERS_MAX ? null : URL.parse(text);
  if (!url) return undefined;
  const isPlain = url.protocol === 'http:' && baseUrl.startsWith('http:');
  return isPlain || isReachable(url, reach) ? url : undefined;
};

const notFetched = (cause?: unknown): GatewayError =>
  new GatewayError(
    'upstream_error',
    'The image could not be fetched from the provider. Nothing was charged. Retry the request.',
    { ignoredByCircuit: isLocalFailure(cause), cause },
  );

const isReachable = (url: URL, reach: Reach): boolean =>
  url.protocol === 'https:' && problemOf(url, reach, 'inner') === undefined;

const follow = async (start: URL, trip: Trip): Promise<Uint8Array> => {
  let url = start;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const response = await request(url, trip);
    try {
      const { statusCode = 0 } = response;
      if (!redirects.has(statusCode)) return await readFile(response, trip);
      const next = URL.parse(response.headers.location ?? '', url.href);
      if (!next || !isReachable(next, trip.reach)) throw notFetched();
      url = next;
    } finally {
      response.destroy();
    }
  }
  throw notFetched();
};

const request = (url: URL, { secureLookup, plainLookup, signal }: Trip): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const lookup = url.protocol === 'https:' ? secureLookup : plainLookup;
    const sent = requestPublic(url, { method: 'GET', headers, lookup, signal });
    sent.on('error', (cause) => reject(new Broken('no response', { cause })));
    // A switch of protocols (101) ends the request without an error.
    sent.once('close', () => reject(new Broken('no response')));
    sent.once('response', resolve);
    sent.end();
  });

const readFile = async (response: IncomingMessage, { bytesMax }: Trip): Promise<Uint8Array> => {
  const { statusCode = 0 } = response;
  if (statusCode >= 500) throw new Broken(`status ${statusCode}`);
  if (statusCode !== 200 || Number(response.headers['content-length'] ?? 0) > bytesMax) throw notFetched();
  const body: AsyncIterable<Uint8Array> = response;
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      size += piece.length;
      if (size > bytesMax) throw notFetched();
      pieces.push(piece);
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : new Broken('connection broke', { cause: error });
  }
  return Buffer.concat(pieces, size);
};
