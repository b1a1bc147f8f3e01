import { expect, test } from 'vitest';
import { StoreError } from '../../../lambdas/core/errors/store-error.ts';
import { retryUntilDefinite } from '../../../lambdas/core/retry.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const failing = () => new StoreError('unavailable', 'no answer came');

test('BILL-14 a call is repeated three times, and the last error is thrown', async () => {
  const clock = new ManualClock();
  const startedAtMs = clock.now();
  let calls = 0;
  const call = async () => {
    calls += 1;
    throw failing();
  };
  await expect(clock.until(retryUntilDefinite({ clock, random: () => 0.5 }, call))).rejects.toThrow('no answer came');
  expect([calls, clock.now() - startedAtMs]).toEqual([4, 1_050]);
});

test('BILL-14 no retry starts after the limit, and the call in progress is abandoned', async () => {
  const clock = new ManualClock();
  const startedAtMs = clock.now();
  let calls = 0;
  const call = () => {
    calls += 1;
    return new Promise<never>((_, reject) => clock.after(2_000, () => reject(failing())));
  };
  const pending = retryUntilDefinite({ clock, random: () => 0 }, call, 3_000);
  await expect(clock.until(pending)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(clock.now() - startedAtMs).toBe(3_000);
  await clock.advance(60_000);
  expect(calls).toBe(2);
});

test('BILL-14 an error of another kind is not retried', async () => {
  const clock = new ManualClock();
  const call = () => Promise.reject(new TypeError('a bug'));
  await expect(retryUntilDefinite({ clock, random: () => 0 }, call, 3_000)).rejects.toThrow('a bug');
  expect(clock.waiting).toBe(0);
});
