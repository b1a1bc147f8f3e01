import { expect, test } from 'vitest';
import { toCap } from '../../../../lambdas/core/ledger/caps.ts';
import { closeHold } from '../../../../lambdas/core/ledger/close-hold.ts';
import type { Account, ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';

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
  caps: new Map(),
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

test('KEY-9 a charge counts in the cap of its hold, and a record cannot choose another', () => {
  const period = '3:2026-11-26';
  const cap = toCap(70n, 30n, period);
  const caps = new Map([
    ['k', cap],
    ['l', cap],
  ]);
  const holds = new Map([['a.0', { amountPicos: 40n, expiresAtMs: 1, cap: { keyId: 'k', period } }]]);
  const record: Pick<ChargeRecord, 'holdId' | 'amountPicos' | 'cap'> = {
    holdId: 'a.0',
    amountPicos: 25n,
    cap: { keyId: 'l', period },
  };
  expect(closeHold({ ...account, caps, holds }, record, 40n, 0)?.caps).toEqual(
    new Map([
      ['k', { ...cap, leftPicos: 45n }],
      ['l', cap],
    ]),
  );
  expect(closeHold({ ...account, caps }, record, 40n, 0)?.caps).toBe(caps);
});
