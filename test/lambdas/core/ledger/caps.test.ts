import { expect, test } from 'vitest';
import {
  type Cap,
  type CapKind,
  type CappedAccount,
  type Caps,
  changeCap,
  closeInCap,
  conditionFor,
  firstCondition,
  holdInCap,
  isSameCondition,
  keyCapOf,
  leftFor,
  parsePeriod,
  toCap,
  toHoldCap,
} from '../../../../lambdas/core/ledger/caps.ts';

const AT = Date.UTC(2026, 10, 26, 12);
const DAY_MS = 86_400_000;
const cap = (period: string, leftPicos = 30n, limitPicos = 70n): Cap => toCap(limitPicos, leftPicos, period);
const capsWith = (period: string, leftPicos?: bigint) => new Map([['k', cap(period, leftPicos)]]);
const withoutHolds = (caps: Caps): CappedAccount => ({ caps, holds: new Map() });
const account = { caps: new Map<string, Cap>(), version: 4 };
const change = (limitPicos: bigint, kind: CapKind) => ({ limitPicos, kind });

test.each([
  ['12:total', { epoch: 12, name: 'total', kind: 'total' }],
  ['0:2026-11-26', { epoch: 0, name: '2026-11-26', kind: 'day' }],
  ['7:2026-11', { epoch: 7, name: '2026-11', kind: 'month' }],
  ['7:2026-W48', undefined],
  ['7:2026', undefined],
  [':total', undefined],
  ['total', undefined],
  ['', undefined],
])('KEY-9 the period %j is read with its kind, or not at all', (period, parts) => {
  expect(parsePeriod(period)).toEqual(parts);
});

test('OPS-11 a cap with a period of a newer release has nothing left, and no condition fits it', () => {
  const newer = cap('7:2026-W48', 30n);
  expect(newer).toEqual({ limitPicos: 0n, leftPicos: -1n, kind: 'total', period: '7:2026-W48' });
  const caps = new Map([['k', newer]]);
  const condition = conditionFor(withoutHolds(caps), 'k', AT);
  expect(holdInCap(caps, condition, 0n)).toBeUndefined();
  expect(leftFor(caps, condition)).toBe(-1n);
  expect(keyCapOf(caps, 'k')).toBeUndefined();
});

test('KEY-9 the first condition follows from the stored key and the clock', () => {
  expect(firstCondition(undefined, AT)).toBeUndefined();
  for (const [kind, period] of [
    ['total', '3:total'],
    ['day', '3:2026-11-26'],
    ['month', '3:2026-11'],
  ] as const)
    expect(firstCondition({ keyId: 'k', kind, epoch: 3 }, AT)).toEqual({ keyId: 'k', period });
});

test.each([
  ['the present day', '3:2026-11-26', { period: '3:2026-11-26' }],
  ['a day that is over', '3:2026-11-25', { period: '3:2026-11-26', ends: '3:2026-11-25' }],
  [
    'a day after the clock',
    '3:2026-11-27',
    { period: '3:2026-11-26', ends: '3:2026-11-27', start: { leftPicos: 30n, seenPicos: 30n } },
  ],
  ['the present month', '3:2026-11', { period: '3:2026-11' }],
  ['a month that is over', '3:2025-12', { period: '3:2026-11', ends: '3:2025-12' }],
  [
    'a month after the clock',
    '3:2026-12',
    { period: '3:2026-11', ends: '3:2026-12', start: { leftPicos: 30n, seenPicos: 30n } },
  ],
  ['no end', '3:total', { period: '3:total' }],
])('KEY-9 the condition for a cap with %s', (_name, period, expected) => {
  expect(conditionFor(withoutHolds(capsWith(period)), 'k', AT)).toEqual({ keyId: 'k', ...expected });
});

test('KEY-9 an API key without a cap in the account requires that there is none', () => {
  const condition = conditionFor(withoutHolds(capsWith('3:total')), 'other', AT);
  expect(condition).toEqual({ keyId: 'other', period: undefined });
  expect([leftFor(capsWith('3:total'), condition), toHoldCap(condition), toHoldCap(undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('KEY-9 two conditions are equal if key and periods are', () => {
  const one = { keyId: 'k', period: '1:total' };
  expect(isSameCondition(one, { ...one })).toBe(true);
  for (const other of [{ keyId: 'l' }, { period: '2:total' }, { ends: '1:total' }])
    expect(isSameCondition(one, { ...one, ...other })).toBe(false);
});

test('KEY-9 a hold takes its amount from what is left, or from the limit in a new period', () => {
  const caps = capsWith('3:2026-11-25');
  expect(holdInCap(caps, undefined, 999n)).toBe(caps);
  const present = { keyId: 'k', period: '3:2026-11-25' };
  expect([leftFor(caps, present), toHoldCap(present)]).toEqual([30n, present]);
  expect(holdInCap(caps, present, 30n)?.get('k')).toMatchObject({ leftPicos: 0n, period: '3:2026-11-25' });
  expect(holdInCap(caps, present, 31n)).toBeUndefined();
  const next = { keyId: 'k', period: '3:2026-11-26', ends: '3:2026-11-25' };
  expect([leftFor(caps, next), toHoldCap(next)]).toEqual([70n, { keyId: 'k', period: '3:2026-11-26' }]);
  expect(holdInCap(caps, next, 70n)?.get('k')).toMatchObject({ leftPicos: 0n, period: '3:2026-11-26' });
  expect(holdInCap(caps, next, 71n)).toBeUndefined();
  expect(holdInCap(caps, { ...next, ends: '3:2026-11-24' }, 1n)).toBeUndefined();
  expect(caps.get('k')?.leftPicos, 'the caps before the hold').toBe(30n);
});

test('KEY-9 a closed hold changes only the cap of its own period', () => {
  const caps = capsWith('3:2026-11-26');
  const closed = (holdCap: { keyId: string; period: string } | undefined, changePicos: bigint) =>
    closeInCap(caps, holdCap, changePicos).get('k')?.leftPicos;
  expect(closed({ keyId: 'k', period: '3:2026-11-26' }, 15n)).toBe(45n);
  expect(closed({ keyId: 'k', period: '3:2026-11-26' }, -45n)).toBe(-15n);
  for (const period of ['3:2026-11-25', '2:2026-11-26', '4:2026-11-26', '3:2026-11'])
    expect(closed({ keyId: 'k', period }, 15n)).toBe(30n);
  expect([closed({ keyId: 'other', period: '3:2026-11-26' }, 15n), closed(undefined, 15n)]).toEqual([30n, 30n]);
});

test('KEY-9 a new cap starts with its limit, in an epoch of its own', () => {
  const first = changeCap(account, 'k', change(70n, 'day'), AT);
  expect(first).toEqual({ caps: new Map([['k', cap('5:2026-11-26', 70n)]]), version: 5 });
  expect(keyCapOf(first.caps, 'k')).toEqual({ kind: 'day', epoch: 5 });
  expect([account.caps.size, account.version]).toEqual([0, 4]);
});

test('KEY-9 another limit of the same kind changes what is left by the difference', () => {
  const spent = { caps: capsWith('3:2026-11-26'), version: 8 };
  const changed = (limitPicos: bigint) => changeCap(spent, 'k', change(limitPicos, 'day'), AT + DAY_MS);
  expect(changed(90n)).toEqual({ caps: new Map([['k', cap('3:2026-11-26', 50n, 90n)]]), version: 9 });
  expect(changed(10n).caps.get('k')?.leftPicos).toBe(-30n);
});

test('KEY-9 a cap of another kind, and one that follows a removal, start a new epoch', () => {
  const spent = { caps: capsWith('3:2026-11-26'), version: 8 };
  expect(changeCap(spent, 'k', change(70n, 'month'), AT).caps.get('k')).toEqual(cap('9:2026-11', 70n));
  expect(changeCap(spent, 'k', change(70n, 'total'), AT).caps.get('k')).toEqual(cap('9:total', 70n));
  const removed = changeCap(spent, 'k', undefined, AT);
  expect(removed).toEqual({ caps: new Map(), version: 9 });
  expect(changeCap(removed, 'k', change(70n, 'day'), AT).caps.get('k')).toEqual(cap('10:2026-11-26', 70n));
  const newer = { caps: capsWith('3:2026-W48'), version: 8 };
  expect(changeCap(newer, 'k', change(70n, 'total'), AT).caps.get('k')).toEqual(cap('9:total', 70n));
});

const keeping = (period: string, leftPicos: bigint, kept: Record<string, bigint>): Caps =>
  new Map([['k', toCap(70n, leftPicos, period, new Map(Object.entries(kept)))]]);
const heldIn = (period: string, amountPicos: bigint) =>
  new Map([[period, { amountPicos, cap: { keyId: 'k', period } }]]);

test.each([
  ['2026-11-26T23:59:50.000Z', '3:2026-11-27', undefined],
  ['2026-11-26T23:59:49.999Z', '3:2026-11-26', '3:2026-11-27'],
  ['2026-11-27T00:00:00.000Z', '3:2026-11-27', undefined],
])('KEY-9 at %s a day that starts within 10 s is the present one', (at, period, ends) => {
  expect(conditionFor(withoutHolds(capsWith('3:2026-11-27')), 'k', Date.parse(at))).toMatchObject({
    period,
    ...(ends && { ends }),
  });
});

test('KEY-9 a cap that returns to a kept day continues with what was left of it', () => {
  const caps = keeping('3:2026-11-27', 70n, { '2026-11-26': 20n });
  const condition = conditionFor(withoutHolds(caps), 'k', AT);
  expect(condition).toEqual({ keyId: 'k', period: '3:2026-11-26', ends: '3:2026-11-27', start: 'kept' });
  expect(leftFor(caps, condition)).toBe(20n);
  expect(holdInCap(caps, condition, 21n)).toBeUndefined();
  expect(holdInCap(caps, condition, 15n)).toEqual(keeping('3:2026-11-26', 5n, { '2026-11-27': 70n }));
  expect(holdInCap(capsWith('3:2026-11-27'), condition, 1n), 'a cap without the kept day').toBeUndefined();
});

test('KEY-9 an earlier day that is not kept takes over the charges, and not the open holds', () => {
  const caps = keeping('3:2026-11-27', 10n, {});
  const condition = conditionFor({ caps, holds: heldIn('3:2026-11-27', 25n) }, 'k', AT);
  expect(condition.start).toEqual({ leftPicos: 35n, seenPicos: 10n });
  expect([leftFor(caps, condition), holdInCap(caps, condition, 36n)]).toEqual([35n, undefined]);
  const after = holdInCap(caps, condition, 35n);
  expect(after).toEqual(keeping('3:2026-11-26', 0n, { '2026-11-27': 10n }));
  expect(holdInCap(keeping('3:2026-11-27', 11n, {}), condition, 1n), 'a hold was closed meanwhile').toBeUndefined();
  expect(closeInCap(after!, { keyId: 'k', period: '3:2026-11-27' }, 20n)).toEqual(
    keeping('3:2026-11-26', 0n, { '2026-11-27': 30n }),
  );
});

test('KEY-9 a cap keeps the day before and the latest day, and forgets the others', () => {
  const caps = keeping('3:2026-11-25', 1n, { '2026-11-24': 2n, '2027-01-05': 3n });
  const condition = conditionFor(withoutHolds(caps), 'k', AT);
  expect(condition).toEqual({
    keyId: 'k',
    period: '3:2026-11-26',
    ends: '3:2026-11-25',
    forgets: ['2026-11-24'],
  });
  expect(holdInCap(caps, condition, 5n)).toEqual(keeping('3:2026-11-26', 65n, { '2026-11-25': 1n, '2027-01-05': 3n }));
});

test('KEY-9 a closed hold changes a kept day of its own epoch only', () => {
  const caps = keeping('3:2026-11-26', 1n, { '2026-11-25': 2n });
  expect(closeInCap(caps, { keyId: 'k', period: '3:2026-11-25' }, 5n)).toEqual(
    keeping('3:2026-11-26', 1n, { '2026-11-25': 7n }),
  );
  for (const period of ['2:2026-11-25', '3:2026-11-24'])
    expect(closeInCap(caps, { keyId: 'k', period }, 5n)).toBe(caps);
});

test('KEY-9 another limit of the same kind changes what is left of the kept days too', () => {
  const spent = { caps: keeping('3:2026-11-26', 30n, { '2026-11-25': 0n }), version: 8 };
  expect(changeCap(spent, 'k', change(90n, 'day'), AT).caps.get('k')).toEqual({
    limitPicos: 90n,
    leftPicos: 50n,
    kind: 'day',
    period: '3:2026-11-26',
    kept: new Map([['2026-11-25', 20n]]),
  });
  expect(changeCap(spent, 'k', change(90n, 'month'), AT).caps.get('k')).toEqual(toCap(90n, 90n, '9:2026-11'));
});
