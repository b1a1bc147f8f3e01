import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashApiKey, isApiKey, labelOf, makeApiKey } from '../../../../lambdas/core/accounts/keys.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 100, long: 5_000 });
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

test('AUTH-5 a key is the prefix, 43 characters and a 6-character checksum', () => {
  fc.assert(
    fc.property(bytes, (random) => {
      const key = makeApiKey(random);
      expect(key).toMatch(/^sk-service-[0-9A-Za-z]{49}$/);
      expect(isApiKey(key)).toBe(true);
    }),
    runs,
  );
});

test('AUTH-5 the lowest and highest 32 bytes make a key, and other lengths throw', () => {
  const lowest = makeApiKey(new Uint8Array(32));
  const highest = makeApiKey(new Uint8Array(32).fill(255));
  expect([lowest, highest].map((key) => key.length)).toEqual([60, 60]);
  expect(lowest.slice(11, 54)).toBe('0'.repeat(43));
  expect(() => makeApiKey(new Uint8Array(31))).toThrow(RangeError);
});

test('AUTH-5 different bytes make different keys', () => {
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      fc.pre(Buffer.compare(one, other) !== 0);
      expect(makeApiKey(one)).not.toBe(makeApiKey(other));
    }),
    runs,
  );
});

test('AUTH-5 one mistyped character anywhere makes a key invalid', () => {
  fc.assert(
    fc.property(bytes, fc.nat({ max: 59 }), fc.constantFrom(...'07AZaz-_ é'), (random, place, character) => {
      const key = makeApiKey(random);
      fc.pre(key[place] !== character);
      expect(isApiKey(`${key.slice(0, place)}${character}${key.slice(place + 1)}`)).toBe(false);
    }),
    runs,
  );
});

test.each([
  '',
  'sk-service-',
  'sk-service',
  'sk-proj-abc',
  `sk-service-${'0'.repeat(49)}`,
  `sk-service-${'a'.repeat(48)}`,
  `sk-service-${'a'.repeat(10_000)}`,
])('AUTH-5 "%s" is not a key', (text) => {
  expect(isApiKey(text)).toBe(false);
});

test('AUTH-5 a key with surrounding whitespace or in uppercase is invalid', () => {
  const key = makeApiKey(new Uint8Array(32).fill(7));
  for (const text of [` ${key}`, `${key} `, `${key}\n`, key.toUpperCase()]) expect(isApiKey(text)).toBe(false);
});

test("AUTH-5 the stored hash is an HMAC under the pepper, and the label has only the key's ends", () => {
  const key = makeApiKey(new Uint8Array(32).fill(7));
  expect(hashApiKey('pepper', key)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashApiKey('pepper', key)).toBe(hashApiKey('pepper', key));
  expect(hashApiKey('other', key)).not.toBe(hashApiKey('pepper', key));
  expect(labelOf(key)).toEqual({ prefix: key.slice(0, 15), lastFour: key.slice(-4) });
});

test('AUTH-5 the hash matches the HMAC-SHA256 test vector', () => {
  // RFC 4231, test case 2.
  expect(hashApiKey('Jefe', 'what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});
