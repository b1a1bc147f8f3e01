import { expect, test } from 'vitest';
import { FundedAccounts } from '../../../../lambdas/core/limits/funded-accounts.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';

test('GEN-14 an account is known to have a balance for ten minutes after an accepted hold', async () => {
  const clock = new ManualClock();
  const funded = new FundedAccounts(clock);
  expect(funded.has('one')).toBe(false);
  funded.mark('one');
  clock.skip(599_999);
  expect([funded.has('one'), funded.has('other')]).toEqual([true, false]);
  clock.skip(1);
  expect(funded.has('one')).toBe(false);
});
