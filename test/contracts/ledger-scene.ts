import { beforeAll, expect } from 'vitest';
import type { Account, ChargeRecord, HoldRequest, LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { type LedgerSubject, watched } from './ledger-subjects.ts';

export const AT = Date.UTC(2026, 10, 1);
/** Id that the gateway gives to a request. The database packs its holds, and those of other ids are maps. */
export const REQUEST = renderRequestId({ atMs: AT, random: 2 ** 45 - 1 });
export const HOLD = `${REQUEST}.0`;
/** More than a double can hold exactly. */
export const HUGE = 2n ** 53n + 1n;

/** One store for the tests of a block, with helpers. Called where the block is described. */
export const ledgerScene = (open: () => Promise<LedgerSubject>) => {
  let subject: LedgerSubject;
  let opened: LedgerStore;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
    opened = watched(subject.store);
  });
  const store: LedgerStore = {
    hold: (request) => opened.hold(request),
    putRecord: (record) => opened.putRecord(record),
    apply: (record, holdAmountPicos, nowMs) => opened.apply(record, holdAmountPicos, nowMs),
    readAccount: (accountId) => opened.readAccount(accountId),
    readRecord: (accountId, holdId) => opened.readRecord(accountId, holdId),
    createAccount: (accountId, nowMs) => opened.createAccount(accountId, nowMs),
    closeMonths: (accountId, nowMs) => opened.closeMonths(accountId, nowMs),
    credit: (request) => opened.credit(request),
    due: (nowMs, latestMs) => opened.due(nowMs, latestMs),
    reschedule: (accountId, sweepAtMs, dueMs) => opened.reschedule(accountId, sweepAtMs, dueMs),
    clearUncollected: (accountId) => opened.clearUncollected(accountId),
    sweepBy: (accountId, sweepAtMs) => opened.sweepBy(accountId, sweepAtMs),
  };

  /** Opens an account with this balance. */
  const account = async (amountPicos: bigint): Promise<string> => {
    count += 1;
    const accountId = `account-${count}`;
    expect(await store.createAccount(accountId, AT)).toBe('created');
    if (amountPicos > 0n) await credit(accountId, amountPicos);
    return accountId;
  };
  const credit = (accountId: string, amountPicos: bigint, ref = 'first') =>
    store.credit({ accountId, ref, amountPicos, reason: 'test', at: AT });
  const order = (accountId: string, changes: Partial<HoldRequest> = {}): HoldRequest => ({
    accountId,
    holdId: HOLD,
    amountPicos: 40n,
    expiresAtMs: AT + 900_000,
    sweepAtMs: AT + 300_000,
    previousHoldId: undefined,
    ...changes,
  });
  const record = (accountId: string, changes: Partial<ChargeRecord> = {}): ChargeRecord => ({
    accountId,
    holdId: HOLD,
    requestId: REQUEST,
    outcome: 'settled',
    amountPicos: 25n,
    at: AT,
    ...changes,
  });
  const read = async (accountId: string): Promise<Account> => {
    const found = await store.readAccount(accountId);
    if (!found) throw new Error(`no ${accountId}`);
    return found;
  };
  const money = async (accountId: string) => {
    const { availablePicos, creditedPicos, spentPicos } = await read(accountId);
    return [availablePicos, creditedPicos, spentPicos];
  };

  return { store, subject: () => subject, account, credit, order, record, read, money };
};
