import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Reach } from './guarded-address.ts';

/** Why a URL that a client names cannot be used, in words to the client; a host that is an inner address is `inner`. */
export const problemOf = (url: URL, reach: Reach, inner: string): string | undefined => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http(s) URL.';
  if (url.username || url.password) return 'the URL must not hold a user name or password.';
  if (!reach.port(portOf(url))) return 'the URL must use port 80, 443, 8080 or 8443.';
  const host = hostOf(url);
  return isIP(host) && !reach.address(host) ? inner : undefined;
};

/** The same before it is parsed. */
export const parsePublicUrl = (
  text: string,
  { charactersMax, reach, inner }: { readonly charactersMax: number; readonly reach: Reach; readonly inner: string },
): URL | { readonly problem: string } => {
  if (text.length > charactersMax) return { problem: `the URL is longer than ${charactersMax} characters.` };
  const url = URL.parse(text);
  if (!url) return { problem: 'this is no valid URL.' };
  const problem = problemOf(url, reach, inner);
  return problem === undefined ? url : { problem };
};

const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

const hostOf = (url: URL): string => (url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname);

interface PublicRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string | number>>;
  /** A guarded one. */
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
}

/**
 * A connection of its own (`agent: false`), checked by the guarded lookup, its certificate by the name in the URL. Whoever is
 * answered 101 hears `close` and neither `response` nor `error`.
 */
export const requestPublic = (url: URL, request: PublicRequest): http.ClientRequest => {
  const options = {
    ...request,
    hostname: hostOf(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    agent: false,
  };
  return url.protocol === 'https:' ? https.request({ ...options, rejectUnauthorized: true }) : http.request(options);
};
