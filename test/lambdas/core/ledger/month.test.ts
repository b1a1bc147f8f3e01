import { expect, test } from 'vitest';
import { beginMonth, changeCredit } from '../../../../lambdas/core/ledger/change-credit.ts';
import type { Account } from '../../../../lambdas/core/ledger/ledger.ts';
import {
  closingsBefore,
  isMonth,
  monthAfter,
  monthBefore,
  monthOf,
  monthOfWrite,
  startOf,
} from '../../../../lambdas/core/ledger/month.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';

const DECEMBER = Date.UTC(2026, 11, 1);
const hold = (amountPicos: bigint) => ({ amountPicos, expiresAtMs: 1 });
const account: Account = {
  id: 'one',
  status: 'active',
  availablePicos: 50n,
  creditedPicos: 100n,
  returnedPicos: 5n,
  spentPicos: 20n,
  month: '2026-11',
  holds: new Map([
    ['of-another-origin.0', hold(10n)],
    [`${renderRequestId({ atMs: DECEMBER - 1, random: 1 })}.0`, hold(15n)],
    [`${renderRequestId({ atMs: DECEMBER, random: 2 })}.0`, hold(5n)],
  ]),
  version: 3,
  caps: new Map(),
};
const sums = { creditedPicos: 100n, returnedPicos: 5n, spentPicos: 20n };

test('BILL-22 a month is a calendar month in UTC', () => {
  expect([monthOf(DECEMBER - 1), monthOf(DECEMBER)]).toEqual(['2026-11', '2026-12']);
  expect([monthAfter('2026-12'), monthAfter('2024-01'), monthBefore('2027-01')]).toEqual([
    '2027-01',
    '2024-02',
    '2026-12',
  ]);
  expect(startOf('2026-12')).toBe(DECEMBER);
});

test.for(['2026-13', '2026-00', '2026-1', '2026-11-01', '26-11', '2026-11 ', ''])(
  'BILL-22 "%s" is not a month',
  (text) => {
    expect(isMonth(text)).toBe(false);
  },
);

test('BILL-22 a write belongs to the later one of the months of account and clock', () => {
  expect([monthOfWrite(account, 0), monthOfWrite(account, DECEMBER)]).toEqual(['2026-11', '2026-12']);
  const { month: _, ...earlier } = account;
  expect(monthOfWrite(earlier, 0)).toBe('1970-01');
});

test('BILL-22 the closing of a month has its sums and the holds of its requests', () => {
  expect(closingsBefore(account, DECEMBER - 1)).toEqual([]);
  expect(closingsBefore(account, DECEMBER)).toEqual([{ month: '2026-11', ...sums, heldPicos: 25n }]);
});

test('BILL-22 an account that was idle for months has a closing for the last of them', () => {
  expect(closingsBefore(account, Date.UTC(2027, 2, 1))).toEqual([
    { month: '2026-11', ...sums, heldPicos: 25n },
    { month: '2027-02', ...sums, heldPicos: 30n },
  ]);
});

test('BILL-22 an account without a month is closed as the month before, as its start', () => {
  const { month: _, ...earlier } = account;
  expect(closingsBefore(earlier, DECEMBER)).toEqual([{ month: '2026-11', ...sums, heldPicos: 25n, startMs: DECEMBER }]);
});

test.for([
  ['credit', 107n, 5n],
  ['refund', 93n, 12n],
  ['chargeback', 93n, 12n],
  ['debit', 93n, 12n],
  ['chargeback_reversed', 107n, -2n],
] as const)('BILL-22 a %s changes the credited and the returned sum', ([type, creditedPicos, returnedPicos]) => {
  const after = changeCredit(account, { type, amountPicos: 7n }, DECEMBER);
  const availablePicos = account.availablePicos + creditedPicos - account.creditedPicos;
  expect(after).toEqual({ ...account, creditedPicos, returnedPicos, availablePicos, month: '2026-12', version: 4 });
});

test('BILL-22 a month that has begun is not begun again', () => {
  expect(beginMonth(account, DECEMBER)).toEqual({ ...account, month: '2026-12', version: 4 });
  expect(beginMonth(account, DECEMBER - 1)).toBe(account);
});
