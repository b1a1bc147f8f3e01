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

test('BILL-6 the last available amount is that of the account, or of its key with a cap', async () => {
  const clock = new ManualClock();
  const funded = new FundedAccounts(clock);
  const seen = () => [undefined, 'k', 'l'].map((keyId) => funded.lastAvailable('a', keyId));
  expect(seen()).toEqual([undefined, undefined, undefined]);
  funded.mark({ accountId: 'a', amountPicos: 1n, availablePicos: 90n });
  funded.mark({ accountId: 'a', amountPicos: 1n, availablePicos: 8n, cap: { keyId: 'k' } });
  expect(seen()).toEqual([90n, 8n, undefined]);
  await funded.learnFrom('a', Promise.reject(new Error('refused'))).catch(() => undefined);
  expect(seen()).toEqual([undefined, undefined, undefined]);
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
