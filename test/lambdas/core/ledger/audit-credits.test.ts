import { expect, test } from 'vitest';
import { auditAccount } from '../../../../lambdas/core/ledger/audit.ts';
import { creditProblems } from '../../../../lambdas/core/ledger/audit-credits.ts';
import type { CreditRecord } from '../../../../lambdas/core/ledger/credit-record.ts';
import type { CreditRequest } from '../../../../lambdas/core/ledger/ledger.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { ID, ledgerScene } from './ledger-scene.ts';

const base = { reason: 'test', at: 0 } as const;
const credit: CreditRecord = { ...base, ref: 'c', type: 'credit', amountPicos: 100n, returnedPicos: 30n };
const refund: CreditRecord = { ...base, ref: 'r', type: 'refund', amountPicos: 30n, of: 'c' };
const dispute: CreditRecord = { ...base, ref: 'd', type: 'chargeback', amountPicos: 50n, of: 'c', reversedBy: 'w' };
const won: CreditRecord = { ...base, ref: 'w', type: 'chargeback_reversed', amountPicos: 50n, of: 'c' };
const debit: CreditRecord = { ...base, ref: 'x', type: 'debit', amountPicos: 500n };
const all = [credit, refund, dispute, won, debit];

test('OPS-5 credits that match their refunds, chargebacks and reversals have no problem', () => {
  expect(creditProblems(all)).toEqual([]);
  const { returnedPicos: _, ...old } = credit;
  expect(creditProblems([old])).toEqual([]);
});

test.for<readonly [invariant: string, ref: string, records: readonly CreditRecord[]]>([
  ['returned-as-recorded', 'c', [{ ...credit, returnedPicos: 29n }, refund]],
  ['returned-as-recorded', 'c', [{ ...credit, amountPicos: 29n }, refund]],
  ['returned-as-recorded', 'c', [credit, refund, { ...refund, ref: 'r2' }]],
  ['returned-as-recorded', 'r', [refund]],
  ['returned-as-recorded', 'd', [{ ...dispute, of: 'x' }, won, debit]],
  ['reversed-once', 'w', [credit, refund, won]],
  ['reversed-once', 'w', [credit, refund, dispute, { ...dispute, ref: 'd2' }, won]],
  ['reversed-once', 'd', [credit, refund, dispute, debit]],
  ['reversed-once', 'd', [credit, refund, { ...dispute, amountPicos: 49n }, won]],
])('OPS-5 a violation of "%s" is found at %s', ([invariant, ref, records]) => {
  expect(creditProblems(records)).toMatchObject([{ invariant, ref, message: expect.any(String) }]);
});

const target = { creditRef: 'first', creditAmountPicos: 1_000n };
const requests: readonly Omit<CreditRequest, 'accountId' | 'at' | 'reason'>[] = [
  { ref: 'r', type: 'refund', amountPicos: 30n, of: 'first', target },
  { ref: 'd', type: 'chargeback', amountPicos: 900n, of: 'first', target },
  { ref: 'w', type: 'chargeback_reversed', amountPicos: 900n, of: 'd', target: { ...target, chargebackRef: 'd' } },
  { ref: 'e', type: 'chargeback', amountPicos: 970n, of: 'first', target },
  { ref: 'x', type: 'debit', amountPicos: 5n },
];

test('OPS-5 an account is clean after each kind of return, also below 0', async () => {
  const { memory } = await ledgerScene(1_000n);
  const deps = { store: memory, records: memory, clock: new ManualClock() };
  for (const request of requests) {
    await memory.credit({ ...request, ...base, accountId: ID });
    expect(await auditAccount(deps, ID)).toMatchObject({ stable: true, findings: [] });
  }
  expect((await memory.readAccount(ID))?.availablePicos).toBe(-5n);
});

test('OPS-5 a return without its record, or with another amount, is a finding', async () => {
  const { memory } = await ledgerScene(1_000n);
  for (const request of requests.slice(0, 1)) await memory.credit({ ...request, ...base, accountId: ID });
  const audit = (change: (records: readonly CreditRecord[]) => readonly CreditRecord[]) =>
    auditAccount(
      {
        store: memory,
        records: {
          closings: (...args: Parameters<typeof memory.closings>) => memory.closings(...args),
          listRecords: (accountId, range) => memory.listRecords(accountId, range),
          readCredits: async (accountId) => change(await memory.readCredits(accountId)),
        },
        clock: new ManualClock(),
      },
      ID,
    );
  const without = await audit((records) => records.filter(({ ref }) => ref !== 'r'));
  expect(without?.findings.map(({ invariant }) => invariant)).toEqual(['credited', 'returned-as-recorded', 'returned']);
  const other = await audit((records) => records.map((one) => (one.ref === 'r' ? { ...one, amountPicos: 31n } : one)));
  expect(other?.findings.map(({ invariant }) => invariant)).toEqual(['credited', 'returned-as-recorded', 'returned']);
});
