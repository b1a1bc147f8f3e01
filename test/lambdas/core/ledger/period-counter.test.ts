import fc from 'fast-check';
import { expect, test } from 'vitest';
import { movePeriod, type PeriodCounter, periodAt } from '../../../../lambdas/core/ledger/period-counter.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 20_000 });
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 20, 12);
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

const counter = (period: string, picos: bigint, kept: Record<string, bigint> = {}): PeriodCounter => ({
  period,
  picos,
  kept: Object.entries(kept).map(([name, amount]) => ({ period: name, picos: amount })),
});

test.each([
  ['the same period', counter('b', 5n, { a: 1n }), 'b', { ...counter('b', 5n, { a: 1n }), origin: 'present' }],
  ['a later one', counter('b', 5n, { a: 1n }), 'c', { ...counter('c', 0n, { b: 5n }), origin: 'new' }],
  ['a kept later one', counter('b', 5n, { c: 3n }), 'c', { ...counter('c', 3n, { b: 5n }), origin: 'kept' }],
  ['an earlier one', counter('d', 5n, { b: 1n }), 'c', { ...counter('c', 5n, { b: 1n, d: 5n }), origin: 'carried' }],
  ['a kept earlier one', counter('d', 5n, { c: 7n }), 'c', { ...counter('c', 7n, { d: 5n }), origin: 'kept' }],
  ['one after a gap', counter('a', 5n, { b: 2n }), 'c', { ...counter('c', 0n, { b: 2n }), origin: 'new' }],
  ['one before the latest', counter('b', 5n, { z: 9n }), 'c', { ...counter('c', 0n, { b: 5n, z: 9n }), origin: 'new' }],
])('KEY-9 a counter that moves to %s has its amount and keeps what it leaves', (_name, before, period, after) => {
  expect(movePeriod(before, period)).toEqual(after);
});

test('KEY-9 an earlier period takes over the amount that the caller names', () => {
  expect(movePeriod(counter('d', 5n), 'c', 2n)).toMatchObject({ picos: 2n, kept: [{ period: 'd', picos: 5n }] });
});

test.each([
  [START, '2026-11-20'],
  [Date.UTC(2026, 10, 20, 23, 59, 50), '2026-11-21'],
  [Date.UTC(2026, 10, 20, 23, 59, 50) - 1, '2026-11-20'],
  [Date.UTC(2026, 10, 22), '2026-11-22'],
])('KEY-9 at %i the period of a counter of 2026-11-21 is %s', (atMs, expected) => {
  expect(periodAt('2026-11-21', atMs, dayOf)).toBe(expected);
});

const steps = fc.array(
  fc.record({ isLate: fc.boolean(), hours: fc.integer({ min: 0, max: 12 }), picos: fc.bigInt({ min: 0n, max: 9n }) }),
  { maxLength: 60 },
);

test('KEY-9 two clocks less than a period apart that alternate forget no amount of a day', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: DAY_MS - 1 }), (turns, apartMs) => {
      let nowMs = START;
      let counted = counter(dayOf(START), 0n);
      const spent = new Map<string, bigint>();
      for (const { isLate, hours, picos } of turns) {
        nowMs += hours * 3_600_000;
        const day = periodAt(counted.period, isLate ? nowMs - apartMs : nowMs, dayOf);
        const moved = movePeriod(counted, day);
        expect(moved.picos).toBeGreaterThanOrEqual(spent.get(day) ?? 0n);
        counted = { ...moved, picos: moved.picos + picos };
        spent.set(day, (spent.get(day) ?? 0n) + picos);
      }
    }),
    runs,
  );
});

test('KEY-9 whatever clocks do, the latest period has exactly its amount', () => {
  const jumps = fc.array(
    fc.record({ days: fc.constantFrom(-40, -30, -1, 0, 0, 1, 40), picos: fc.bigInt({ min: 0n, max: 9n }) }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(jumps, (turns) => {
      let nowMs = START;
      let counted = counter(dayOf(START), 0n);
      const spent = new Map<string, bigint>();
      for (const { days, picos } of turns) {
        nowMs += days * DAY_MS;
        const moved = movePeriod(counted, periodAt(counted.period, nowMs, dayOf));
        counted = { ...moved, picos: moved.picos + picos };
        spent.set(moved.period, (spent.get(moved.period) ?? 0n) + picos);
        expect(counted.kept.length).toBeLessThanOrEqual(3);
        const latest = [counted, ...counted.kept].reduce((one, other) => (one.period > other.period ? one : other));
        expect(latest.picos).toBe(spent.get(latest.period) ?? 0n);
        expect([...spent.keys()].every((day) => day <= latest.period)).toBe(true);
      }
    }),
    runs,
  );
});
