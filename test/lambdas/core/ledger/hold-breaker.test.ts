import { expect, test } from 'vitest';
import { HoldBreaker } from '../../../../lambdas/core/ledger/hold-breaker.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';

test('BILL-14 the pause of new holds ends when the clock steps back by an hour', () => {
  const clock = new ManualClock();
  const breaker = new HoldBreaker(clock);
  for (let failures = 0; failures < 5; failures += 1) breaker.failed();
  expect(() => breaker.admit()).toThrow('cannot be reached in time');
  clock.skip(-3_600_000);
  expect(() => breaker.admit()).not.toThrow();
  // That request is the probe.
  expect(() => breaker.admit()).toThrow('cannot be reached in time');
});
