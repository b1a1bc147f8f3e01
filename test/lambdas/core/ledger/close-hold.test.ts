import { expect, test } from 'vitest';
import { closeHold } from '../../../../lambdas/core/ledger/close-hold.ts';
import type { Account } from '../../../../lambdas/core/ledger/ledger.ts';

const other = { amountPicos: 5n, expiresAtMs: 1 };
const account: Account = {
  id: 'one',
  status: 'active',
  availablePicos: 55n,
  creditedPicos: 100n,
  returnedPicos: 0n,
  spentPicos: 0n,
  holds: new Map([
    ['a.0', { amountPicos: 40n, expiresAtMs: 1 }],
    ['b.0', other],
  ]),
  version: 3,
};

test('BILL-3 a charge closes its hold and releases the rest', () => {
  expect(closeHold(account, { holdId: 'a.0', amountPicos: 25n }, 40n, 0)).toEqual({
    ...account,
    availablePicos: 70n,
    month: '1970-01',
    spentPicos: 25n,
    holds: new Map([['b.0', other]]),
    version: 4,
  });
  expect(account.holds.size, 'the account before the write is not changed').toBe(2);
});

test.for([
  ['of another amount', 'a.0', 41n],
  ['that is not open', 'c.0', 40n],
] as const)('BILL-13 a hold %s is not closed', ([, holdId, amountPicos]) => {
  expect(closeHold(account, { holdId, amountPicos: 25n }, amountPicos, 0)).toBeUndefined();
});

test('BILL-13 a hold of a newer release is not closed', () => {
  const newer: Account = { ...account, holds: new Map([['a.0', { amountPicos: 40n, expiresAtMs: 1, isNewer: true }]]) };
  expect(closeHold(newer, { holdId: 'a.0', amountPicos: 25n }, 40n, 0)).toBeUndefined();
});

test('BILL-21 a release adds its uncollected amount to the day of its clock', () => {
  const record = { holdId: 'a.0', amountPicos: 0n, uncollectedPicos: 7n, usesAllowance: true };
  expect(closeHold(account, record, 40n, 0)?.uncollected).toEqual({ day: '1970-01-01', picos: 7n });
  const counted: Account = { ...account, uncollected: { day: '1970-01-01', picos: 3n } };
  expect(closeHold(counted, record, 40n, 0)?.uncollected).toEqual({ day: '1970-01-01', picos: 10n });
  expect(closeHold(counted, { holdId: 'a.0', amountPicos: 0n }, 40n, 0)?.uncollected).toBe(counted.uncollected);
});
