import { expect, test } from 'vitest';
import {
  type Cap,
  type CapKind,
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
  const condition = conditionFor(caps, 'k', AT);
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
  ['a day after the clock', '3:2026-11-27', { period: '3:2026-11-27' }],
  ['the present month', '3:2026-11', { period: '3:2026-11' }],
  ['a month that is over', '3:2025-12', { period: '3:2026-11', ends: '3:2025-12' }],
  ['a month after the clock', '3:2026-12', { period: '3:2026-12' }],
  ['no end', '3:total', { period: '3:total' }],
])('KEY-9 the condition for a cap with %s', (_name, period, expected) => {
  expect(conditionFor(capsWith(period), 'k', AT)).toEqual({ keyId: 'k', ...expected });
});

test('KEY-9 an API key without a cap in the account requires that there is none', () => {
  const condition = conditionFor(capsWith('3:total'), 'other', AT);
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
