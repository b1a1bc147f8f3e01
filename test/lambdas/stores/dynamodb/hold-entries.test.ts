import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOLD_IDS } from '../../../../lambdas/core/ledger/hold.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { packAmount, packedKeyOf, toHoldEntry, toHolds } from '../../../../lambdas/stores/dynamodb/hold-entries.ts';

/** Integers of at most this many bits. */
const below = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(Number);

const AT = Date.UTC(2026, 10, 26);
const REQUEST = renderRequestId({ atMs: AT, random: 2 ** 45 - 1 });
const HOLD = `${REQUEST}.3`;
const hold = { amountPicos: 40n, expiresAtMs: AT + 900_000 };

const readBack = (holdId: string, one: typeof hold) => {
  const { key, value } = toHoldEntry(holdId, one, 'packed');
  return [...toHolds({ [key]: value })];
};

const packable = fc.record({
  atMs: below(42),
  random: below(45),
  number: fc.nat({ max: HOLD_IDS - 1 }),
  amountPicos: fc.bigInt({ min: 0n, max: 2n ** 48n - 1n }),
  seconds: below(22),
});

test('BILL-1 every packed hold is read as it was stored', () => {
  fc.assert(
    fc.property(packable, ({ atMs, random, number, amountPicos, seconds }) => {
      const id = `${renderRequestId({ atMs, random })}.${number}`;
      const one = { amountPicos, expiresAtMs: atMs + seconds * 1_000 };
      expect(readBack(id, one)).toEqual([[id, one]]);
      expect(packedKeyOf(id)).toHaveLength(8);
    }),
  );
});

test('BILL-13 a packed hold expires at most one second later than its request intends', () => {
  expect(readBack(HOLD, { ...hold, expiresAtMs: AT + 1 })).toEqual([[HOLD, { ...hold, expiresAtMs: AT + 1_000 }]]);
});

test('BILL-1 a packed hold takes 23 bytes of the account item', () => {
  const { key, value } = toHoldEntry(HOLD, hold, 'packed');
  // DynamoDB adds one byte per entry of a map.
  expect(1 + key.length + (value as Uint8Array).length).toBe(23);
});

test.for([
  ['the id of another origin', '01KAXT2Z00ZZZZZZZZZZZZZZZZ.0', hold],
  ['a fifth id of its request', `${REQUEST}.4`, hold],
  ['a number with leading zeros', `${REQUEST}.03`, hold],
  ['an amount of 2^48 pico-USD', HOLD, { ...hold, amountPicos: 2n ** 48n }],
  ['an expiry before its request', HOLD, { ...hold, expiresAtMs: AT - 1_000 }],
  ['an expiry after 49 days', HOLD, { ...hold, expiresAtMs: AT + 49 * 86_400_000 }],
] as const)('BILL-1 a hold with %s is stored as a map under its whole id', ([, id, one]) => {
  const { key, value } = toHoldEntry(id, one, 'packed');
  expect([key, value]).toEqual([id, { amount: one.amountPicos, expiresAt: one.expiresAtMs }]);
});

test('BILL-1 the format "map" stores every hold as a map', () => {
  expect(toHoldEntry(HOLD, hold, 'map').key).toBe(HOLD);
});

test('BILL-1 bytes that a newer release adds to a packed hold are ignored', () => {
  const { key, value } = toHoldEntry(HOLD, hold, 'packed');
  const longer = Buffer.concat([value as Uint8Array, Buffer.from('more')]);
  expect([...toHolds({ [key]: longer })]).toEqual([[HOLD, hold]]);
});

test('BILL-1 an unreadable entry is an error that names it', () => {
  expect(() => toHolds({ short: new Uint8Array(14) })).toThrow('the stored hold "short" is unreadable');
  expect(() => toHolds({ [packedKeyOf(HOLD)!]: new Uint8Array(3) })).toThrow('is unreadable');
});

test('BILL-13 an amount is the start of every packed hold of that amount, and of no other', () => {
  const { value } = toHoldEntry(HOLD, hold, 'packed');
  const start = (picos: bigint) =>
    Buffer.from(value as Uint8Array)
      .subarray(0, 6)
      .equals(packAmount(picos)!);
  expect([start(40n), start(41n), start(0n)]).toEqual([true, false, false]);
  expect([packAmount(-1n), packAmount(2n ** 48n)]).toEqual([undefined, undefined]);
});
