import { isIPv4, isIPv6 } from 'node:net';

const mappedV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * What an address is counted under: an IPv4 address itself, an IPv6 address by its /64, since a household or a server has a
 * whole one. Anything unreadable shares one bucket (LIM-7).
 */
export const addressBucket = (address: string | undefined): string => {
  const text = address ?? '';
  const v4 = mappedV4.exec(text)?.[1] ?? text;
  if (isIPv4(v4)) return v4;
  return isIPv6(text) ? `${firstFourGroups(text)}::/64` : 'unknown';
};

const firstFourGroups = (address: string): string => {
  // A URL's host is the canonical form; a zone such as %eth0 is no part of it.
  const canonical = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left.slice(0, 4).join(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
};
