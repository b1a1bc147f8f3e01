import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIFETIME_MS } from '../lambdas/core/ledger/history.ts';
import { hasDynamodb } from '../support/dynamodb.ts';
import { randomRuns } from '../support/random-runs.ts';
import { EngineHistory, requestIdAt } from './engine-history.ts';
import { type Engine, startEngine } from './engine-ledger.ts';

const runs = randomRuns(import.meta.filename, { quick: 0, long: 500 });
/** Number of histories that run concurrently, each on its own account. */
const LANES = 8;

const plans = fc.array(
  fc.record({
    account: fc.constant(0),
    holdPicos: fc.bigInt({ min: 0n, max: 700n }),
    chargePicos: fc.bigInt({ min: 0n, max: 900n }),
    ends: fc.constantFrom('settled', 'settled', 'released'),
    acceptsLess: fc.boolean(),
    isCapped: fc.boolean(),
    callMs: fc.constantFrom(0, 0, LIFETIME_MS / 2, LIFETIME_MS * 2),
  }),
  { minLength: 1, maxLength: 4, size: 'max' },
);
const numbers = fc.noBias(fc.array(fc.nat({ max: 2 ** 20 }), { maxLength: 250, size: 'max' }));

let engine: Engine;
beforeAll(async () => {
  if (hasDynamodb) engine = await startEngine();
});
afterAll(() => engine?.stop());

test.skipIf(!hasDynamodb)(
  'BILL-13 BILL-14 on the engine each request is charged at most once under any faults',
  async () => {
    const told = { charged: 0, refused: 0, released: 0, failed: 0, nothing: 0 };
    let accounts = 0;
    const lane = (index: number) =>
      fc.assert(
        fc.asyncProperty(numbers, plans, async (choices, requests) => {
          accounts += 1;
          const history = new EngineHistory(engine, `history-${accounts}`, choices, requests);
          const { records } = await history.play();
          for (const [number, plan] of requests.entries()) {
            const settled = records.filter((one) => one.requestId === requestIdAt(number) && one.outcome === 'settled');
            const outcome = history.told[number];
            told[outcome ?? 'nothing'] += 1;
            if (outcome === 'charged') expect(settled).toMatchObject([{ amountPicos: plan.chargePicos }]);
            if (outcome === 'refused' || outcome === 'released') expect(settled).toEqual([]);
          }
        }),
        { seed: runs.seed + index, numRuns: Math.ceil(runs.numRuns / LANES), endOnFailure: true },
      );
    await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    process.stdout.write(`${accounts} histories: ${JSON.stringify(told)}\n`);
    // A long run must contain histories of every kind, or it proves little.
    if (runs.numRuns >= 500) expect(Math.min(...Object.values(told))).toBeGreaterThan(runs.numRuns / 100);
  },
  3_600_000,
);
