import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { SWEEP_LATE_MS } from '../../../../lambdas/core/ledger/audit.ts';
import { createAuditHandler } from '../../../../lambdas/functions/wiring/audit-handler.ts';
import type { AuditFunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const createScene = async () => {
  const store = new MemoryLedgerStore();
  const clock = new ManualClock();
  const notices: unknown[] = [];
  const measured: unknown[] = [];
  let cursor: string | undefined;
  for (const accountId of ['one', 'two']) {
    await store.createAccount(accountId, 0);
    await store.credit({ accountId, ref: 'first', amountPicos: 5_000_000_000_000n, reason: 'test', at: 0 });
  }
  const deps: AuditFunctionDependencies = {
    clock,
    ledgerStore: store,
    ledgerRecords: store,
    auditCursor: {
      read: async () => cursor,
      write: async (accountId) => {
        cursor = accountId;
      },
    },
    reporting: {
      finished: () => undefined,
      notice: (name, details) => notices.push([name, details]),
      measured: (values) => measured.push(values),
    },
  };
  /** Writes a charge without a hold. */
  const spoil = (accountId: string, requestId: string) =>
    store.putRecord({
      accountId,
      holdId: `${requestId}.0`,
      requestId,
      outcome: 'settled',
      amountPicos: 1_000_000_000_000n,
      at: 0,
    });
  return { store, clock, notices, measured, spoil, deps, run: createAuditHandler(deps) };
};

const nothing = { audit_differences: 0, audit_unstable: 0, orphaned_holds: 0 };

test('OPS-3 an account with a difference is counted and logged with the difference', async () => {
  const { run, notices, measured, spoil } = await createScene();
  await spoil('two', 'r');
  await run();
  expect(measured).toEqual([{ ...nothing, audit_accounts: 2, audit_passes: 1, audit_differences: 1 }]);
  expect(notices).toEqual([
    [
      'audit_difference',
      {
        accountId: 'two',
        record: '',
        invariant: 'spent',
        reason: 'spent is 0 USD, its charges are 1 USD: -1 USD apart',
      },
    ],
  ]);
});

test('OPS-3 at most five differences of an account are logged, and all are counted', async () => {
  const { run, notices, measured, store } = await createScene();
  for (const requestId of 'abcdefg')
    await store.putRecord({
      accountId: 'one',
      holdId: `${requestId}.0`,
      requestId,
      outcome: 'released',
      amountPicos: 1n,
      at: 0,
    });
  await run();
  expect(measured).toMatchObject([{ audit_differences: 7 }]);
  expect(notices).toHaveLength(5);
});

test('BILL-13, OPS-3 a hold that the sweeper left behind is an orphan, not a difference', async () => {
  const { run, notices, measured, store, clock } = await createScene();
  await store.hold({
    accountId: 'one',
    holdId: 'r.0',
    amountPicos: 1n,
    expiresAtMs: clock.now() + 1_000,
    sweepAtMs: 0,
    previousHoldId: undefined,
  });
  clock.skip(1_000 + SWEEP_LATE_MS);
  await run();
  clock.skip(1);
  await run();
  expect(measured).toEqual([
    { ...nothing, audit_accounts: 2, audit_passes: 1 },
    { ...nothing, audit_accounts: 2, audit_passes: 1, orphaned_holds: 1 },
  ]);
  expect(notices).toMatchObject([['audit_difference', { accountId: 'one', record: 'r.0', invariant: 'hold-swept' }]]);
});

test('OPS-3 a difference is measured even if a later account stops the run', async () => {
  const { deps, measured, spoil, store } = await createScene();
  await spoil('one', 'r');
  const readAccount = (id: string) =>
    id === 'two' ? Promise.reject(new StoreError('unavailable', 'away')) : store.readAccount(id);
  const run = createAuditHandler({ ...deps, ledgerStore: { readAccount } });
  await expect(run()).rejects.toThrow('away');
  expect(measured).toEqual([{ ...nothing, audit_accounts: 1, audit_passes: 0, audit_differences: 1 }]);
});
