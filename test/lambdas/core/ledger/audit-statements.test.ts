import { expect, test } from 'vitest';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import { statementProblems } from '../../../../lambdas/core/ledger/audit-statements.ts';
import type { CreditRecord } from '../../../../lambdas/core/ledger/credit-record.ts';
import type { Account } from '../../../../lambdas/core/ledger/ledger.ts';
import type { MonthClosing } from '../../../../lambdas/core/ledger/month.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const account: Account = {
  id: 'one',
  status: 'active',
  availablePicos: 50n,
  creditedPicos: 90n,
  returnedPicos: 10n,
  spentPicos: 40n,
  month: '2026-12',
  holds: new Map(),
  version: 9,
  caps: new Map(),
};
const closing: MonthClosing = {
  month: '2026-11',
  creditedPicos: 100n,
  returnedPicos: 0n,
  spentPicos: 30n,
  heldPicos: 0n,
};
const base = { reason: 'test', at: 0 } as const;
const credit: CreditRecord = { ...base, ref: 'c', type: 'credit', amountPicos: 100n, month: '2026-11' };
const refund: CreditRecord = { ...base, ref: 'r', type: 'refund', amountPicos: 10n, of: 'c', month: '2026-12' };

test('OPS-5, BILL-22 closings that match their records have no problem', () => {
  expect(statementProblems(account, [closing], [credit, refund])).toEqual([]);
  const { month: _, ...earlier } = account;
  expect(statementProblems({ ...earlier, returnedPicos: 0n }, [], [{ ...refund, month: undefined as never }])).toEqual(
    [],
  );
});

test('OPS-5, BILL-22 a refund of an earlier release after a closing is not a difference', () => {
  const { month: _, ...unmarked } = refund;
  const after = { ...account, returnedPicos: 0n };
  expect(statementProblems(after, [closing], [credit, unmarked])).toEqual([]);
});

test.for<readonly [string, string, Account, readonly MonthClosing[], readonly CreditRecord[]]>([
  ['a return without its sum', 'returned', { ...account, returnedPicos: 0n }, [], [credit, refund]],
  ['a sum without its return', 'returned', account, [], [credit]],
  ['a return in the wrong month', 'returned', account, [closing], [credit, { ...refund, month: '2026-11' }]],
  ['a closing with later charges', 'closings-in-order', account, [{ ...closing, spentPicos: 41n }], [credit, refund]],
  [
    'a closing with later credits',
    'closings-in-order',
    account,
    [{ ...closing, creditedPicos: 101n }],
    [credit, refund],
  ],
  [
    'a closing of the present month',
    'closings-in-order',
    account,
    [{ ...closing, month: '2026-12', returnedPicos: 10n }],
    [credit, refund],
  ],
])('OPS-5, BILL-22 %s violates "%s"', ([_what, invariant, changed, closings, credits]) => {
  const problems = statementProblems(changed, closings, credits);
  expect(new Set(problems.map((problem) => problem.invariant))).toEqual(new Set([invariant]));
});

test('OPS-5, BILL-22 the audit reads the closings of the account', async () => {
  const memory = new MemoryLedgerStore();
  await memory.createAccount('one', 0);
  await memory.credit({ accountId: 'one', ref: 'c', amountPicos: 5n, reason: 'test', at: Date.UTC(2026, 10, 1) });
  const deps = { store: memory, clock: new ManualClock() };
  expect(await auditAccount({ ...deps, records: memory }, 'one')).toMatchObject({ findings: [] });
  const records = {
    listRecords: memory.listRecords.bind(memory),
    readCredits: memory.readCredits.bind(memory),
    closings: async () => [{ ...closing, spentPicos: 1n }],
  };
  const found = await auditAccount({ ...deps, records }, 'one');
  expect(found?.findings).toMatchObject([{ invariant: 'closings-in-order', recordId: null }]);
});
