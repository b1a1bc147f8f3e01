import fc from 'fast-check';
import { decodeTime, isValid } from 'ulid';
import { expect, test } from 'vitest';
import { parseRequestId, renderRequestId } from '../../../lambdas/core/request-id.ts';
import { newRequestId } from '../../../lambdas/functions/wiring/ledger.ts';

/** Integers of at most this many bits. */
const below = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(Number);

const AT = Date.UTC(2026, 10, 26);
const parts = fc.record({ atMs: below(48), random: below(45) });

test('GEN-4 a request id is a ULID of the time of its request', () => {
  const id = renderRequestId({ atMs: AT, random: 5 });
  expect([isValid(id), decodeTime(id)]).toEqual([true, AT]);
});

test('BILL-13 the time and the random part of an id determine the whole id', () => {
  fc.assert(
    fc.property(parts, (one) => {
      expect(parseRequestId(renderRequestId(one))).toEqual({ ...one });
    }),
  );
});

test('BILL-13 ids sort by time', () => {
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      fc.pre(one.atMs < other.atMs);
      expect(renderRequestId(one) < renderRequestId(other)).toBe(true);
    }),
  );
});

test('BILL-13 new ids differ, also within a millisecond', () => {
  expect(new Set(Array.from({ length: 1_000 }, newRequestId)).size).toBe(1_000);
});

test.for([
  ['a ULID with other digits at its end', '01KAXT2Z00ZZZZZZZZZ0000000'],
  ['a shorter id', 'r'],
  ['a longer id', `${renderRequestId({ atMs: AT, random: 1 })}0`],
  ['an id in lower case', renderRequestId({ atMs: AT, random: 1 }).toLowerCase()],
  ['an empty id', ''],
])('BILL-13 %s is recognized as an id of another origin', ([, id]) => {
  expect(parseRequestId(id!)).toBeUndefined();
});
