import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HoldCap } from '../../../../lambdas/core/ledger/caps.ts';
import type { Hold } from '../../../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { packedFormOf, packedKeyOf, toHoldEntry, toHolds } from '../../../../lambdas/stores/dynamodb/hold-entries.ts';

/** Integers of at most this many bits. */
const below = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }).map(Number);

const AT = Date.UTC(2026, 10, 26);
const REQUEST = renderRequestId({ atMs: AT, random: 2 ** 45 - 1 });
const HOLD = `${REQUEST}.3`;
const hold = { amountPicos: 40n, expiresAtMs: AT + 900_000 };

const readBack = (holdId: string, one: Hold) => {
  const { key, value } = toHoldEntry(holdId, one, 'packed');
  return [...toHolds({ [key]: value })];
};

const packable = fc.record({
  atMs: below(42),
  random: below(45),
  number: fc.nat({ max: 3 }),
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
  ['a number below zero', `${REQUEST}.-1`, hold],
  ['a number with a fraction', `${REQUEST}.1e-7`, hold],
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

const readOne = (key: string, value: Parameters<typeof toHolds>[0][string]) => [...toHolds({ [key]: value })];

test('OPS-11 a packed hold with bytes of a newer release is open, and only that release closes it', () => {
  const { key, value } = toHoldEntry(HOLD, hold, 'packed');
  const longer = Buffer.concat([value as Uint8Array, Buffer.from('cap')]);
  expect(readOne(key, longer)).toEqual([[HOLD, { ...hold, isNewer: true }]]);
});

test('OPS-11 an unreadable entry is an open hold of a newer release, with its readable parts', () => {
  const never = 8.64e15;
  for (const [key, value] of [
    ['short', new Uint8Array(14)],
    [packedKeyOf(HOLD) ?? '', new Uint8Array(3)],
    ['a text', 'odd'],
    ['no amount', {}],
  ] as const)
    expect(readOne(key, value)).toEqual([[key, { amountPicos: 0n, expiresAtMs: never, isNewer: true }]]);
  expect(readOne('some.0', { amount: 40n })).toEqual([
    ['some.0', { amountPicos: 40n, expiresAtMs: never, isNewer: true }],
  ]);
  expect(readOne('some.0', { expiresAt: 5n })).toEqual([
    ['some.0', { amountPicos: 0n, expiresAtMs: 5, isNewer: true }],
  ]);
});

test('BILL-13 the start of a packed hold is that of no other amount, and of no other time', () => {
  const value = Buffer.from(toHoldEntry(HOLD, hold, 'packed').value as Uint8Array);
  const isStart = (holdId: string, picos: bigint) =>
    value.subarray(0, 11).equals(packedFormOf(holdId, picos, undefined)!.start);
  const later = `${renderRequestId({ atMs: AT + 4, random: 2 ** 45 - 1 })}.3`;
  expect([isStart(HOLD, 40n), isStart(HOLD, 41n), isStart(HOLD, 0n), isStart(later, 40n)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const formOf = (holdId: string, picos: bigint) => packedFormOf(holdId, picos, undefined);
  expect([formOf(HOLD, -1n), formOf(HOLD, 2n ** 48n), formOf('other.0', 1n)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

const CAP = { keyId: '0123456789abcdef', period: '12:2026-11-26' };

test.for(['7:total', '12:2026-11', '123456789:2026-11-26'])(
  'KEY-9 a hold in a cap of the period %s is read as stored',
  (period) => {
    const one = { ...hold, cap: { ...CAP, period } };
    const { key, value } = toHoldEntry(HOLD, one, 'packed');
    const bytes = (value as Uint8Array).length;
    expect([key, bytes]).toEqual([packedKeyOf(HOLD), 14 + 8 + period.length]);
    expect(packedFormOf(HOLD, 40n, one.cap)).toMatchObject({ bytes });
    expect(readBack(HOLD, one)).toEqual([[HOLD, one]]);
    const map = toHoldEntry(HOLD, one, 'map');
    expect(readOne(map.key, { amount: 40n, until: BigInt(one.expiresAtMs), cap: { key: CAP.keyId, period } })).toEqual([
      [HOLD, one],
    ]);
  },
);

test('OPS-11 an earlier release cannot close a hold with a cap, and counts its amount', () => {
  const one = { ...hold, cap: CAP };
  expect((toHoldEntry(HOLD, one, 'packed').value as Uint8Array).length).toBeGreaterThan(14);
  // Without `expiresAt`, and under another key than that of its id.
  expect(toHoldEntry(HOLD, one, 'map')).toEqual({
    key: `${HOLD}#cap`,
    value: { amount: 40n, until: hold.expiresAtMs, cap: { key: CAP.keyId, period: CAP.period } },
  });
});

test('KEY-9 a hold whose API key has an id of another form is a map', () => {
  const one = { ...hold, cap: { ...CAP, keyId: 'k' } };
  expect(toHoldEntry(HOLD, one, 'packed').key).toBe(`${HOLD}#cap`);
  expect(packedFormOf(HOLD, 40n, one.cap)).toBeUndefined();
});

test('OPS-11 a cap of a newer release keeps its hold open', () => {
  const period = '12:2026-W48';
  const { key, value } = toHoldEntry(HOLD, { ...hold, cap: { ...CAP, period } }, 'packed');
  expect(readOne(key, value)).toEqual([[HOLD, { ...hold, isNewer: true }]]);
  const map = { amount: 40n, until: 5n, cap: { key: CAP.keyId, period } };
  const newer = { amountPicos: 40n, expiresAtMs: 8.64e15, isNewer: true };
  expect(readOne(`${HOLD}#cap`, map)).toEqual([[`${HOLD}#cap`, newer]]);
  expect(readOne(`${HOLD}#cap`, { amount: 40n })).toEqual([[`${HOLD}#cap`, newer]]);
});

interface Packed {
  readonly holdId: string;
  readonly amountPicos: string;
  readonly expiresAtMs: number;
  readonly cap?: HoldCap;
  readonly key: string;
  /** In hex. */
  readonly value: string;
}

const FOLDER = 'test/fixtures/stored/packed';

test.for(readdirSync(FOLDER))('OPS-11 packed holds of %s have the same form now', (release) => {
  const entries: readonly Packed[] = JSON.parse(readFileSync(`${FOLDER}/${release}`, 'utf8'));
  expect(entries.length).toBeGreaterThan(3);
  for (const { holdId, amountPicos, expiresAtMs, cap, key, value } of entries) {
    const one = { amountPicos: BigInt(amountPicos), expiresAtMs, ...(cap && { cap }) };
    expect(toHoldEntry(holdId, one, 'packed')).toEqual({ key, value: Buffer.from(value, 'hex') });
    expect(readOne(key, Buffer.from(value, 'hex'))).toEqual([[holdId, one]]);
  }
});
