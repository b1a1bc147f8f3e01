import { expect, test } from 'vitest';
import {
  allowanceUsed,
  countUncollected,
  inDay,
  isOnProbation,
  onProbation,
  refusalOf,
  type UncollectedOfDay,
  type UncollectedState,
} from '../../../../lambdas/core/ledger/allowance.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';

const LATE = Date.UTC(2026, 10, 26, 23, 59, 59, 999);
const TODAY = '2026-11-26';
const TOMORROW = '2026-11-27';
const uses = { holdId: 'request.0', uncollectedPicos: 5n, usesAllowance: true, allowancePicos: 100n };
/** A call without content that was placed at this time and that its deadline ended. */
const silentFrom = (placedAtMs: number) => ({
  holdId: `${renderRequestId({ atMs: placedAtMs, random: 1 })}.0`,
  uncollectedPicos: 5n,
  silentDeadline: true,
  allowancePicos: 100n,
});
/** Placed after all others ended, so it starts a group. */
const silent = silentFrom(LATE + 60_000);
const spentNothing = { spentPicos: 0n };

/** Counts records in turn, each at its time. */
const countAll = (
  records: readonly (readonly [record: Parameters<typeof countUncollected>[1], nowMs: number])[],
  spentPicos = 0n,
): UncollectedState => {
  let state: UncollectedState = {};
  for (const [record, nowMs] of records) state = countUncollected({ ...state, spentPicos }, record, nowMs);
  return state;
};

test('BILL-21 amounts of one day add up, and a new day starts from 0', () => {
  const first = countUncollected(spentNothing, uses, LATE);
  expect(first).toEqual({ uncollected: { day: TODAY, picos: 5n } });
  expect(countUncollected({ ...spentNothing, ...first }, uses, LATE)).toEqual({
    uncollected: { day: TODAY, picos: 10n },
  });
  expect(countUncollected({ ...spentNothing, ...first }, uses, LATE + 1).uncollected).toMatchObject({
    day: TOMORROW,
    picos: 5n,
  });
});

test('BILL-21 a counter of a later day returns to the present day with its amount', () => {
  const ahead: UncollectedOfDay = { day: '2026-12-30', picos: 3n };
  expect(countUncollected({ ...spentNothing, uncollected: ahead }, uses, LATE).uncollected).toMatchObject({
    day: TODAY,
    picos: 8n,
  });
  const nextDay = inDay(inDay(ahead, TODAY), TOMORROW);
  expect(nextDay.picos).toBe(0n);
});

test('BILL-21 two clocks that alternate between two days start no sum again', () => {
  let counter: UncollectedOfDay | undefined;
  for (let turn = 0; turn < 6; turn += 1) {
    const { uncollected } = countUncollected(
      { spentPicos: 0n, uncollected: counter },
      uses,
      turn % 2 ? LATE + 1 : LATE,
    );
    counter = uncollected;
  }
  expect(inDay(counter, TODAY).picos).toBe(15n);
  expect(inDay(counter, TOMORROW).picos).toBe(15n);
});

test('BILL-21 a day that was counted before a later one keeps its own amount', () => {
  const ahead: UncollectedOfDay = { day: '2026-12-30', picos: 90n, other: { day: TODAY, picos: 3n } };
  expect(inDay(ahead, TODAY)).toEqual({ day: TODAY, picos: 3n, other: { day: '2026-12-30', picos: 90n } });
  expect(inDay(ahead, TOMORROW)).toMatchObject({ day: TOMORROW, picos: 90n });
});

test('BILL-21 clocks that alternate between two days free no further deadline without content', () => {
  const turns = [LATE, LATE + 1, LATE, LATE + 1, LATE, LATE + 1, LATE, LATE + 1];
  const { uncollected } = countAll(turns.map((nowMs) => [silent, nowMs]));
  expect(uncollected).toMatchObject({ silentDeadlines: 3 });
  expect(uncollected?.picos).toBeGreaterThan(0n);
});

test.for([
  ['a charge', {}],
  ['a release without an amount', { usesAllowance: true }],
  ["a provider's failure", { uncollectedPicos: 5n }],
] as const)('BILL-21 %s leaves the counter as it is', ([, record]) => {
  const uncollected = { day: '2026-11-25', picos: 3n };
  const closed = { holdId: 'request.0', ...record };
  expect(countUncollected({ ...spentNothing, uncollected }, closed, LATE).uncollected).toBe(uncollected);
  expect(countUncollected(spentNothing, closed, LATE)).toEqual({});
});

/** Counts calls that were placed together and that end in turn, 1 ms apart. */
const endTogether = (count: number, atMs: number): Parameters<typeof countAll>[0] =>
  Array.from({ length: count }, (_, index) => [silentFrom(atMs - 1_000), atMs + index]);

test('BILL-21 one failure of a provider starts no probation, whatever is in progress', () => {
  const start = LATE - 60_000;
  const two = [...endTogether(30, start), ...endTogether(30, start + 30_000)];
  expect(countAll(two)).toEqual({
    uncollected: { day: TODAY, picos: 300n, freePicos: 300n, silentDeadlines: 2, silentAtMs: start + 30_000 },
  });
  const third = countAll([...two, ...endTogether(21, start + 50_000)]);
  expect(third).toMatchObject({ uncollected: { picos: 405n, freePicos: 300n }, probationUntilPicos: 1_050n });
});

test('BILL-21 deadlines without content reject requests from ten allowances a day on', () => {
  const { uncollected } = countAll(endTogether(200, LATE - 60_000));
  const account = { ...spentNothing, holds: { size: 0 }, ...(uncollected && { uncollected }) };
  const allowance = { day: TODAY, picos: 100n, isLarge: false };
  expect(refusalOf(account, allowance)).toBe('day');
  expect(refusalOf(account, { ...allowance, picos: 101n })).toBeUndefined();
});

test('BILL-21 a clock that was ahead starts no group that later calls belong to', () => {
  const hour = 3_600_000;
  const after = countAll([1, 2, 3].map((index) => [silentFrom(LATE + 1), LATE + (index === 1 ? hour : 0)]));
  expect(after.uncollected).toMatchObject({ picos: 15n, freePicos: 10n });
});

test('BILL-21 the third deadline without content of a day is the first that uses the allowance', () => {
  const third = countAll([
    [silent, LATE],
    [silent, LATE],
    [silent, LATE],
  ]);
  expect(
    countAll([
      [silent, LATE],
      [silent, LATE],
    ]).uncollected,
  ).toMatchObject({ picos: 10n, freePicos: 10n, silentDeadlines: 2 });
  expect(third.uncollected).toMatchObject({ picos: 15n, freePicos: 10n, silentDeadlines: 3 });
  expect(countUncollected({ ...spentNothing, ...third }, silent, LATE).uncollected).toMatchObject({
    picos: 20n,
    silentDeadlines: 3,
  });
  const nextDay = countUncollected({ ...spentNothing, ...third }, silent, LATE + 1).uncollected;
  expect(nextDay).toMatchObject({ day: TOMORROW, picos: 5n, freePicos: 5n, silentDeadlines: 1 });
});

test('BILL-21 a probation starts above the allowance, and each further amount prolongs it', () => {
  const large = { ...uses, uncollectedPicos: 100n };
  expect(countAll([[large, LATE]], 7n)).not.toHaveProperty('probationUntilPicos');
  const started = countAll(
    [
      [large, LATE],
      [uses, LATE],
    ],
    7n,
  );
  expect(started.probationUntilPicos).toBe(7n + 1_050n);
  const prolonged = countUncollected({ ...started, spentPicos: 8n }, uses, LATE + 1);
  expect(prolonged.probationUntilPicos).toBe(7n + 1_100n);
});

test('BILL-21 a probation ends when the charges reach ten times the amounts that caused it', () => {
  const state = countAll([[{ ...uses, uncollectedPicos: 200n }, LATE]], 7n);
  expect(isOnProbation({ ...state, spentPicos: 2_006n })).toBe(true);
  expect(isOnProbation({ ...state, spentPicos: 2_007n })).toBe(false);
  expect(isOnProbation(spentNothing)).toBe(false);
  const again = countUncollected({ ...state, spentPicos: 2_007n }, uses, LATE);
  expect(again.probationUntilPicos).toBe(2_007n + 2_050n);
});

test('BILL-21 a deadline without content that does not use the allowance starts no probation', () => {
  expect(countAll([[{ ...silent, uncollectedPicos: 900n }, LATE]])).not.toHaveProperty('probationUntilPicos');
});

test('BILL-21 a record of an earlier release has no allowance and starts no probation', () => {
  const { allowancePicos: _allowance, ...earlier } = uses;
  expect(countAll([[{ ...earlier, uncollectedPicos: 10n ** 15n }, LATE]])).not.toHaveProperty('probationUntilPicos');
});

const holdsOf = (size: number) => ({ holds: { size } });

test.for([
  ['no amount yet', undefined, undefined],
  ['less than ten allowances', { day: TODAY, picos: 49n }, undefined],
  ['ten allowances', { day: TODAY, picos: 50n }, 'day'],
  ['more on an earlier day', { day: '2026-11-25', picos: 99n }, undefined],
  ['more on a later day', { day: TOMORROW, picos: 50n }, 'day'],
  ['less on a later day', { day: TOMORROW, picos: 49n }, undefined],
  [
    'less on this day before more on a later one',
    { day: TOMORROW, picos: 99n, other: { day: TODAY, picos: 49n } },
    undefined,
  ],
  ['more on this day before a later one', { day: TOMORROW, picos: 1n, other: { day: TODAY, picos: 50n } }, 'day'],
] as const)('BILL-21 an account with %s: does it get a hold?', ([, uncollected, expected]) => {
  const account = { ...spentNothing, ...holdsOf(9), uncollected };
  expect(refusalOf(account, { day: TODAY, picos: 5n, isLarge: true })).toBe(expected);
  expect(refusalOf(account, undefined)).toBeUndefined();
});

test.for([
  ['a large request beside an open one', true, 1, 'probation'],
  ['a large request alone', true, 0, undefined],
  ['a small request beside open ones', false, 9, undefined],
] as const)('BILL-21 an account on probation sends %s', ([, isLarge, open, expected]) => {
  const account = { spentPicos: 5n, probationUntilPicos: 6n, ...holdsOf(open) };
  expect(refusalOf(account, { day: TODAY, picos: 5n, isLarge })).toBe(expected);
  expect(refusalOf({ ...account, spentPicos: 6n }, { day: TODAY, picos: 5n, isLarge })).toBeUndefined();
});

test('BILL-21 an allowance of 0 is used by the first amount of the day', () => {
  const allowance = { day: TODAY, picos: 0n, isLarge: false };
  const withAmount = (day: string, picos: bigint) => ({ ...spentNothing, ...holdsOf(0), uncollected: { day, picos } });
  expect(refusalOf({ ...spentNothing, ...holdsOf(0) }, allowance)).toBeUndefined();
  expect(refusalOf(withAmount('2026-11-25', 1n), allowance)).toBeUndefined();
  expect(refusalOf(withAmount(TODAY, 0n), allowance)).toBeUndefined();
  expect(refusalOf(withAmount(TODAY, 1n), allowance)).toBe('day');
});

test('BILL-21 the errors name the allowance, the end of the day and the limit that is admitted', () => {
  const allowance = { day: '2026-12-31', picos: parseUsd('1'), isLarge: true };
  const used = allowanceUsed(allowance);
  expect(used).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 300, limit: 'uncollected' });
  expect(used.message).toContain('1 USD');
  expect(used.message).toContain('2027-01-01T00:00:00Z');
  const probation = onProbation(allowance, 'max_tokens', 4_096);
  expect(probation).toMatchObject({
    code: 'rate_limit_exceeded',
    retryAfterSeconds: 30,
    param: 'max_tokens',
    limit: 'probation',
  });
  expect(probation.message).toContain('Set max_tokens to at most 4096');
});
