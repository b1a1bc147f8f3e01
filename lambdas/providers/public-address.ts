import type { LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `dns.lookup` has this type. */
export type LookupAll = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

/** Hosts and ports that a client's URL can reach. */
export interface Reach {
  readonly address: (address: string) => boolean;
  readonly port: (port: number) => boolean;
}

/**
 * The only unicast space that IANA allocates. ipaddr.js also calls addresses outside of it unicast, such as
 * `::127.0.0.1`.
 */
const allocatedV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Looks public but is the Azure host:
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const azureHost = '168.63.129.16';

/**
 * Accepts only the canonical forms that the system resolver and the URL parser write. ipaddr.js alone would also accept
 * `0177.1`.
 */
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

/** Ports of web servers. A client must not make the gateway connect to public mail servers or databases. */
const webDependencies: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);

/** Strict reach, for every URL that a client sends. */
export const publicWeb: Reach = { address: isPublicAddress, port: (port) => webDependencies.has(port) };

/**
 * Checked lookup for the `lookup` option of a connection. Node connects to exactly the checked address, so a name
 * cannot change its address in between. One forbidden address rejects the name. Node skips the lookup if the host is an
 * IP address.
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

/**
 * Returns the problem of a client's URL, worded for the client. Undefined if there is none. `inner` is the message for
 * an internal IP address.
 */
export const problemOf = (url: URL, reach: Reach, inner: string): string | undefined => {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must be an http(s) URL.';
  if (url.username || url.password) return 'the URL must not contain a user name or password.';
  if (!reach.port(portOf(url))) return 'the URL must use port 80, 443, 8080 or 8443.';
  const host = hostOf(url);
  return isIP(host) && !reach.address(host) ? inner : undefined;
};

/** Parses a client's URL, and returns either the URL or its problem. */
export const parsePublicUrl = (
  text: string,
  { charactersMax, reach, inner }: { readonly charactersMax: number; readonly reach: Reach; readonly inner: string },
): URL | { readonly problem: string } => {
  if (text.length > charactersMax)
    return { problem: `the URL is longer than ${charactersMax} characters. Send a shorter one.` };
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
  /** Must be a guarded lookup. */
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
}

/**
 * Sends a request on its own connection (`agent: false`), with the guarded lookup and a certificate check for the name
 * in the URL. For a 101 response it emits `close`, but neither `response` nor `error`.
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
