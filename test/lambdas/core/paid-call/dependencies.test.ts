import { expect, test, vi } from 'vitest';
import { checkAccounts } from '../../../../lambdas/core/accounts/check-account.ts';
import { meterMargin } from '../../../../lambdas/core/paid-call/dependencies.ts';

const record = { accountId: 'a', model: 'm', amountPicos: 30n, costPicos: 20n };

const counted = (change: object) => {
  const margin = vi.fn<(model: string, picos: bigint) => void>();
  meterMargin({ margin }, { ...record, ...change });
  return margin.mock.calls;
};

test('OPS-3 the margin of a record is its charge minus the cost of the provider', () => {
  expect(counted({})).toEqual([['m', 10n]]);
  expect(counted({ costPicos: 50n })).toEqual([['m', -20n]]);
});

test.each([
  ['without the cost of the provider', { costPicos: undefined }],
  ['without a model', { model: undefined }],
  ['of a check', { accountId: checkAccounts.deployment }],
  ['of the canary', { accountId: checkAccounts.canary }],
])('OPS-3, OPS-13 a record %s has no margin', (_what, change) => {
  expect(counted(change)).toEqual([]);
});
