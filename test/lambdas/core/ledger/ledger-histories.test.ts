import { test } from 'vitest';
import { randomRuns } from '../../../support/random-runs.ts';
import { playHistories, timeoutOf } from './play-histories.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 100_000 });

test(
  'BILL-13 in every history of failures money is conserved and each request is charged at most once',
  () => playHistories(runs, () => undefined),
  timeoutOf(runs),
);
