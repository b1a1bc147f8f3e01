import fc from 'fast-check';
import { expect } from 'vitest';
import type { RandomRuns } from '../../../support/random-runs.ts';
import { History, type InspectedLedger, LIFETIME_MS } from './history.ts';

const DAY_MS = 86_400_000;

const plans = fc.array(
  fc.record({
    account: fc.nat({ max: 1 }),
    holdPicos: fc.bigInt({ min: 0n, max: 700n }),
    chargePicos: fc.bigInt({ min: 0n, max: 900n }),
    ends: fc.constantFrom('settled', 'settled', 'released'),
    acceptsLess: fc.boolean(),
    isCapped: fc.boolean(),
    aheadMs: fc.constantFrom(0, 0, -DAY_MS, DAY_MS, 40 * DAY_MS),
    callMs: fc.constantFrom(0, 0, LIFETIME_MS / 2, LIFETIME_MS, LIFETIME_MS * 2),
  }),
  { minLength: 1, maxLength: 4 },
);
const numbers = fc.noBias(fc.array(fc.nat({ max: 2 ** 20 }), { maxLength: 300, size: 'max' }));

/** Plays random histories. Each result that a client got must match the charge records. */
export const playHistories = async (runs: RandomRuns, openLedger: () => InspectedLedger | undefined): Promise<void> => {
  const told = { charged: 0, refused: 0, released: 0, failed: 0, nothing: 0 };
  await fc.assert(
    fc.asyncProperty(numbers, plans, async (choices, requests) => {
      const history = new History(choices, requests, openLedger());
      await history.play();
      for (const [index, plan] of requests.entries()) {
        const records = history.ledger.recordsOf(`account-${plan.account}`);
        const settled = records.filter((record) => record.requestId === `r${index}` && record.outcome === 'settled');
        const outcome = history.told[index];
        told[outcome ?? 'nothing'] += 1;
        expect(settled.length, `r${index} got ${outcome}`).toBeLessThanOrEqual(1);
        if (outcome === 'charged') expect(settled).toMatchObject([{ amountPicos: plan.chargePicos }]);
        if (outcome === 'refused' || outcome === 'released') expect(settled).toEqual([]);
      }
    }),
    runs,
  );
  // The runs prove little unless every result occurs.
  if (runs.numRuns >= 1_000) expect(Math.min(...Object.values(told))).toBeGreaterThan(runs.numRuns / 100);
};

/** Longest time for `numRuns` runs on a slow machine, in ms. */
export const timeoutOf = ({ numRuns }: RandomRuns): number => 60_000 + numRuns * 40;
