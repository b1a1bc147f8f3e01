import { test } from 'vitest';
import { randomRuns } from '../../../support/random-runs.ts';
import { playHistories, timeoutOf } from './play-histories.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 40_000 });

test(
  'BILL-13 any history of failures conserves money and charges a request once at most',
  () => playHistories(runs, () => undefined),
  timeoutOf(runs),
);
