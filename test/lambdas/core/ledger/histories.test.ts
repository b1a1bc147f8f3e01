import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomRuns } from '../../../support/random-runs.ts';
import { History, LIFETIME_MS } from './history.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 100_000 });

const plans = fc.array(
  fc.record({
    account: fc.nat({ max: 1 }),
    holdPicos: fc.bigInt({ min: 0n, max: 700n }),
    chargePicos: fc.bigInt({ min: 0n, max: 900n }),
    ends: fc.constantFrom('settled', 'settled', 'released'),
    acceptsLess: fc.boolean(),
    callMs: fc.constantFrom(0, 0, LIFETIME_MS / 2, LIFETIME_MS, LIFETIME_MS * 2),
  }),
  { minLength: 1, maxLength: 4 },
);
const numbers = fc.noBias(fc.array(fc.nat({ max: 2 ** 20 }), { maxLength: 300, size: 'max' }));

test(
  'BILL-13 in every history of failures money is conserved and each request is charged at most once',
  async () => {
    const told = { charged: 0, refused: 0, released: 0, failed: 0, nothing: 0 };
    await fc.assert(
      fc.asyncProperty(numbers, plans, async (choices, requests) => {
        const history = new History(choices, requests);
        await history.play();
        for (const [index, plan] of requests.entries()) {
          const records = history.memory.recordsOf(`account-${plan.account}`);
          const settled = records.filter((record) => record.requestId === `r${index}` && record.outcome === 'settled');
          const outcome = history.told[index];
          told[outcome ?? 'nothing'] += 1;
          expect(settled.length, `r${index} was told ${outcome}`).toBeLessThanOrEqual(1);
          if (outcome === 'charged') expect(settled).toMatchObject([{ amountPicos: plan.chargePicos }]);
          if (outcome === 'refused' || outcome === 'released') expect(settled).toEqual([]);
        }
      }),
      runs,
    );
    // The histories are of every kind, or they prove little.
    if (runs.numRuns >= 1_000) expect(Math.min(...Object.values(told))).toBeGreaterThan(runs.numRuns / 100);
  },
  60_000 + runs.numRuns * 40,
);
