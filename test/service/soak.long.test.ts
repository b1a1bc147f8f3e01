import { expect, test } from 'vitest';
import { randomRuns } from '../support/random-runs.ts';
import { soak, UNAVAILABLE } from '../support/soak-run.ts';
import { judgeSoak } from '../support/soak-verdict.ts';

const { seed, numRuns } = randomRuns(import.meta.filename, { quick: 300, long: 300 });

test('BILL-1 BILL-14 under mixed load with provider and store failures, every balance is right', async () => {
  const result = await soak({ requests: numRuns, outageSeconds: 2, auditEverySeconds: 2, holdGraceSeconds: 2, seed });
  const { complaints, table } = judgeSoak(result);
  console.info(table);
  expect(complaints, table).toEqual([]);
  expect(result.answers.length).toBeGreaterThanOrEqual(numRuns);
  const { from, to } = result.outage;
  const felt = result.answers.filter(({ startedAt, endedAt }) => startedAt >= from && endedAt <= to);
  expect(felt.some(({ outcome }) => outcome === UNAVAILABLE)).toBe(true);
  expect(result.audits.read).toBeGreaterThan(0);
});
