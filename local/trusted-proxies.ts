import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, prefixLength: number];

/** Proxies whose `X-Forwarded-For` the gateway believes. Empty: the gateway believes none. */
export type TrustedProxies = readonly Range[];

type Request = Pick<IncomingMessage, 'headersDistinct'> & {
  readonly socket: Pick<IncomingMessage['socket'], 'remoteAddress'>;
};

/**
 * Parses a comma separated list of IP addresses and CIDR ranges. Throws an Error that names the first bad item and its
 * fix.
 */
export const parseTrustedProxies = (text: string): TrustedProxies =>
  text.split(',').map((item) => parseRange(item.trim()));

const EXAMPLE = 'Use IP addresses and CIDR ranges, such as 127.0.0.1,10.0.0.0/8';

const parseRange = (item: string): Range => {
  if (item === '') throw new Error(`has an empty item. ${EXAMPLE}.`);
  const [host = '', prefix, ...rest] = item.split('/');
  const network = readAddress(host);
  if (!network || rest.length > 0) throw new Error(`"${item}" is not an IP address or CIDR range. ${EXAMPLE}.`);
  if (isIP(host) === 6 && network.kind() === 'ipv4') {
    throw new Error(`"${item}" is an IPv4 address in IPv6 form. Use the IPv4 form.`);
  }
  const length = network.kind() === 'ipv4' ? 32 : 128;
  if (prefix === undefined) return [network, length];
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (bits === 0) throw new Error(`"${item}" trusts every address. List the addresses of your proxies.`);
  if (!(bits <= length)) throw new Error(`"${item}" has a bad prefix length. Use 1 to ${length}.`);
  const first = firstAddress(network, bits);
  if (first !== network.toString()) throw new Error(`"${item}" is not the start of its range. Use ${first}/${bits}.`);
  return [network, bits];
};

const firstAddress = (network: Address, bits: number): string => {
  const family = network.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return family.networkAddressFromCIDR(`${network}/${bits}`).toString();
};

/**
 * Returns IPv4 for an IPv4-mapped IPv6 address, and undefined for text that is not one IP address without port or
 * brackets.
 */
const readAddress = (text: string): Address | undefined =>
  // ipaddr.js alone would accept 0177.1 and 127.1.
  isIP(text) === 0 || text.includes('%') ? undefined : ipaddr.process(text);

/**
 * Returns the client's IP address (LIM-7), for `HostOptions.sourceIp`. Starts at the peer of the connection and follows
 * `X-Forwarded-For` from right to left as long as the address is a trusted proxy: each proxy appends the address that
 * it saw, some with the port. Entries that the client wrote itself are further left and are not read. An entry that is not
 * an IP address makes the peer the client.
 */
export const createClientIp =
  (proxies: TrustedProxies) =>
  ({ socket, headersDistinct }: Request): string => {
    const { remoteAddress = '' } = socket;
    const peer = readAddress(withoutZone(remoteAddress));
    if (!peer) return remoteAddress;
    const entries = headersDistinct['x-forwarded-for']?.flatMap((line) => line.split(',')) ?? [];
    let client = peer;
    for (const entry of entries.reverse()) {
      if (!isTrusted(proxies, client)) break;
      const next = readAddress(withoutPort(entry.trim()));
      if (!next) return peer.toString();
      client = next;
    }
    return client.toString();
  };

/** Returns the address of `203.0.113.7:50000`, `[2001:db8::1]:443` or `[2001:db8::1]`, and other text unchanged. */
const withoutPort = (entry: string): string =>
  entry.replace(/^([\d.]+):\d{1,5}$/, '$1').replace(/^\[([\da-f:.]+)\](?::\d{1,5})?$/i, '$1');

/** A link-local peer has a zone, such as fe80::1%eth0. */
const withoutZone = (address: string): string => address.replace(/%.*$/, '');

/** Whether a peer can have connections of many clients (LIM-9): this machine and trusted proxies. */
export const isSharedPeer =
  (proxies: TrustedProxies) =>
  (remoteAddress: string): boolean => {
    const peer = readAddress(withoutZone(remoteAddress));
    return peer !== undefined && (peer.range() === 'loopback' || isTrusted(proxies, peer));
  };

const isTrusted = (proxies: TrustedProxies, address: Address): boolean =>
  proxies.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
