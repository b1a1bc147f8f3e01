import { expect, test, vi } from 'vitest';
import { checkAccounts } from '../../../../lambdas/core/accounts/check-account.ts';
import { meterMargin } from '../../../../lambdas/core/paid-call/dependencies.ts';

const record = { accountId: 'a', model: 'm', amountPicos: 30n, costPicos: 20n };

test.each([
  ['a settled record', {}, [['m', 10n]]],
  ['a record below cost', { costPicos: 50n }, [['m', -20n]]],
  ['a record without the cost of the provider', { costPicos: undefined }, []],
  ['a record without a model', { model: undefined }, []],
  ['a record of a check', { accountId: checkAccounts.deployment }, []],
])('OPS-3, OPS-13 the margin of %s is counted as %o', (_what, change, expected) => {
  const margin = vi.fn<(model: string, picos: bigint) => void>();
  const { costPicos, model, ...rest } = { ...record, ...change };
  meterMargin(
    { margin },
    { ...rest, ...(costPicos === undefined ? {} : { costPicos }), ...(model === undefined ? {} : { model }) },
  );
  expect(margin.mock.calls).toEqual(expected);
});
