import { expect } from 'vitest';
import type { HoldParams } from '../../../../lambdas/core/ledger/hold.ts';
import type { ChargeRecord, LedgerDependencies } from '../../../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf, heldOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { type Faulty, type LedgerFaults, withFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';

export const LIFETIME_MS = 300_000;
export const ID = 'account-1';

/** One account with a balance, a manual clock, and a store with scripted faults. */
export interface LedgerScene {
  readonly memory: MemoryLedgerStore;
  readonly outbox: MemoryOutbox;
  readonly clock: ManualClock;
  readonly deps: LedgerDependencies & { readonly store: Faulty };
  /** Returns the same ledger for another process, with its own faults. */
  another(faults: LedgerFaults): LedgerDependencies & { readonly store: Faulty };
  order(changes?: Partial<HoldParams>): HoldParams;
  /** Returns the account. Checks its balance first. */
  account(): Account;
}

export const ledgerScene = async (amountPicos: bigint, faults: LedgerFaults = {}): Promise<LedgerScene> => {
  const memory = new MemoryLedgerStore();
  const outbox = new MemoryOutbox();
  const clock = new ManualClock();
  await memory.createAccount(ID, 0);
  if (amountPicos > 0n) await memory.credit({ accountId: ID, ref: 'first', amountPicos, reason: 'test', at: 0 });
  const portsWith = (plan: LedgerFaults) => ({
    store: withFaults(memory, plan),
    outbox,
    clock,
    random: () => 0,
    shortestLifetimeMs: LIFETIME_MS,
  });
  return {
    memory,
    outbox,
    clock,
    deps: portsWith(faults),
    another: portsWith,
    order: (changes) => ({
      accountId: ID,
      requestId: 'r',
      amountPicos: 100n,
      expiresAtMs: clock.now() + LIFETIME_MS,
      ...changes,
    }),
    account: () => {
      const [account] = memory.accounts();
      if (!account) throw new Error('the account does not exist');
      expect(account.availablePicos + heldOf(account)).toBe(balanceOf(account));
      return account;
    },
  };
};

export const settledRecord = (holdId: string, amountPicos: bigint, at: number): ChargeRecord => ({
  accountId: ID,
  holdId,
  requestId: holdId.slice(0, holdId.lastIndexOf('.')),
  outcome: 'settled',
  amountPicos,
  at,
});
