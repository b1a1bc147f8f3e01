import { expect, test } from 'vitest';
import { FundedAccounts } from '../../../../lambdas/core/limits/funded-accounts.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';

test('GEN-14 an account has a known balance for 10 minutes after its last hold', async () => {
  const clock = new ManualClock();
  const funded = new FundedAccounts(clock);
  expect(funded.has('a')).toBe(false);
  funded.mark({ accountId: 'a', amountPicos: 1n });
  await clock.advance(599_999);
  expect([funded.has('a'), funded.has('b')]).toEqual([true, false]);
  await clock.advance(1);
  expect(funded.has('a')).toBe(false);
});

test('GEN-14 an account has no known balance after a rejected hold', async () => {
  const funded = new FundedAccounts(new ManualClock());
  funded.mark({ accountId: 'a', amountPicos: 1n });
  await funded.learnFrom('a', Promise.resolve({ accountId: 'a', amountPicos: 0n }));
  expect(funded.has('a')).toBe(true);
  const refusal = new Error('refused');
  await expect(funded.learnFrom('a', Promise.reject(refusal))).rejects.toBe(refusal);
  expect(funded.has('a')).toBe(false);
});

test('GEN-14 a hold of 0 does not show a balance', () => {
  const funded = new FundedAccounts(new ManualClock());
  funded.mark({ accountId: 'a', amountPicos: 0n });
  expect(funded.has('a')).toBe(false);
});

test('GEN-14 a balance that is known from before the clock was set back does not count', () => {
  let nowMs = 10_000_000;
  const funded = new FundedAccounts({ now: () => nowMs, after: () => () => undefined });
  funded.mark({ accountId: 'a', amountPicos: 1n });
  nowMs -= 3_600_000;
  expect(funded.has('a')).toBe(false);
});
