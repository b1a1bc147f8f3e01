import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `dns.lookup` fits. */
export type LookupAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** What a client's URL may lead us to. */
export interface Reach {
  readonly address: (address: string) => boolean;
  readonly port: (port: number) => boolean;
}

/** The only unicast space IANA gives out; outside of it lie `::127.0.0.1` and others that ipaddr.js calls unicast. */
const allocatedV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Looks public and is the Azure host itself: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16 */
const azureHost = '168.63.129.16';

/** Only the canonical forms that the system resolver and the URL parser write; ipaddr.js alone would read `0177.1` too. */
const isPublicAddress = (address: string): boolean => {
  if (address === azureHost || address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return ipaddr.IPv4.parse(address).range() === 'unicast';
    case 6: {
      const parsed = ipaddr.IPv6.parse(address);
      return parsed.range() === 'unicast' && parsed.match(allocatedV6);
    }
    default:
      return false;
  }
};

/** The ports of web servers: nobody may have us talk to a public mail server or database. */
const webDependencies: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/** The strict reach, the one for anything a client names. */
export const publicWeb: Reach = { address: isPublicAddress, port: (port) => webDependencies.has(port) };

/**
 * For the `lookup` option of a connection: what is checked here is what Node connects to, so that a name cannot change its
 * address in between. One address that is not allowed refuses the name. Node does not ask for a host that is an address.
 */
export const createGuardedLookup =
  (lookup: LookupAll, allowed: Reach['address']): LookupFunction =>
  (hostname, options, answer) =>
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error) return answer(error, []);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => allowed(address))) {
        return answer(new Error('The name resolves to an IP address that is not allowed.'), []);
      }
      return options.all ? answer(null, addresses) : answer(null, first.address, first.family);
    });

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
  if (!url) return { problem: 'this is not a valid URL.' };
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
