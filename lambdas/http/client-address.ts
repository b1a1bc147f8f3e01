import { isIPv4, isIPv6 } from 'node:net';

const mappedV4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * What an address is counted under: an IPv4 address itself, an IPv6 address by its /64, since a household or a server has a
 * whole one. Anything unreadable shares one bucket (LIM-7).
 */
export const addressBucket = (address: string | undefined): string => {
  const text = address ?? '';
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return 'unknown';
  // A URL's host is the canonical form; a zone such as %eth0 is no part of it.
  const canonical = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = mappedV4.exec(canonical) ?? [];
  return high && low ? toV4(Number.parseInt(high, 16), Number.parseInt(low, 16)) : `${firstFourGroups(canonical)}::/64`;
};

const toV4 = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

const firstFourGroups = (canonical: string): string => {
  const [head = '', tail] = canonical.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return left.slice(0, 4).join(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
};
