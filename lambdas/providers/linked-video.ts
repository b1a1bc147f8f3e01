import { lookup as systemLookup } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors/gateway-error.ts';
import { createGuardedLookup, type LookupAll, publicWeb, type Reach, requestPublic } from './public-address.ts';
import { ResponseBytes } from './response-bytes.ts';
import { type ResultLink, reachableLink } from './result-download.ts';
import type { UpstreamResponse } from './upstream-http.ts';
import { noFile, VIDEO_ACCEPT } from './video-answers.ts';

/**
 * Requests a video file that a provider's response links to, with the rules for linked images: no provider key, and over
 * https never an internal address. Follows no redirect. Throws `upstream_error`, or the signal's reason if that is
 * aborted.
 */
export type LinkedVideo = (link: ResultLink) => Promise<UpstreamResponse>;

export interface LinkedVideoDependencies {
  readonly lookup?: LookupAll;
  /** Only tests set it, because their server is not public. */
  readonly reach?: Reach;
}

export const linkedVideoHeaders = { accept: VIDEO_ACCEPT, 'accept-encoding': 'identity' };

export const createLinkedVideo = (deps: LinkedVideoDependencies = {}): LinkedVideo => {
  const { lookup = systemLookup, reach = publicWeb } = deps;
  const secureLookup = createGuardedLookup(lookup, reach.address);
  const plainLookup = createGuardedLookup(lookup, () => true);
  return async ({ url: text, baseUrl, signal }) => {
    const url = reachableLink(text, baseUrl, reach);
    if (!url) throw noFile();
    signal.throwIfAborted();
    const toError = (cause: unknown): unknown => (signal.aborted ? signal.reason : broken(cause));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const lookup = url.protocol === 'https:' ? secureLookup : plainLookup;
      const sent = requestPublic(url, { method: 'GET', headers: linkedVideoHeaders, lookup, signal });
      sent.on('error', (cause) => reject(toError(cause)));
      // A switch of protocols (101) ends the request without an error.
      sent.once('close', () => reject(toError(undefined)));
      sent.once('response', resolve);
      sent.end();
    });
    const bytes = new ResponseBytes(response, toError);
    const discard = (): void => {
      bytes.stop();
      response.destroy();
    };
    return { status: response.statusCode ?? 0, headers: response.headers, body: bytes, discard };
  };
};

const broken = (cause: unknown): GatewayError =>
  new GatewayError('upstream_error', 'The file of the video could not be fetched from the provider.', { cause });
