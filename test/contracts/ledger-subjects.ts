import { expect } from 'vitest';
import { type CapChange, changeCap } from '../../lambdas/core/ledger/caps.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger.ts';
import { type Account, balanceOf, heldOf } from '../../lambdas/core/ledger/ledger.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import type { UpdateRequest } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { readNumber } from '../../lambdas/stores/dynamodb/item.ts';
import { accountKey } from '../../lambdas/stores/dynamodb/ledger-items.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { toReplacement } from '../../lambdas/stores/dynamodb/replace-account.ts';
import { readAccount } from '../../local/stores/sqlite/account-rows.ts';
import { CREDIT_MAX_PICOS } from '../../local/stores/sqlite/credits.ts';
import { optionalNumberOf } from '../../local/stores/sqlite/database.ts';
import { createLedgerRecords as createSqliteRecords } from '../../local/stores/sqlite/ledger-records.ts';
import { createLedgerStore as createSqliteStore } from '../../local/stores/sqlite/ledger-store.ts';
import { replaceCaps } from '../../local/stores/sqlite/replace-account.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the ledger store, with calls that bypass it. */
export interface LedgerSubject {
  readonly store: LedgerStore;
  readonly records: LedgerRecords;
  /** The largest amount that the engine can store. Pico-USD. */
  readonly amountMaxPicos: bigint;
  /** The largest sum of credits that one account can have. Pico-USD. */
  readonly creditMaxPicos: bigint;
  block(accountId: string): Promise<void>;
  /** Changes the cap of an API key. Undefined: removes it. */
  setCap(accountId: string, keyId: string, change: CapChange | undefined, nowMs: number): Promise<void>;
  /** Removes the month of the account, as an account of an earlier release has none. */
  forgetMonth(accountId: string): Promise<void>;
  /** Places holds of 1 pico-USD in one write. */
  placeHolds(accountId: string, count: number): Promise<void>;
  /** Position of the account on the sweep list; undefined if it is not on the list. */
  sweepAtOf(accountId: string): Promise<number | undefined>;
}

const holdIds = (count: number) => Array.from({ length: count }, (_, index) => `placed${index}.0`);
const brief = { amountPicos: 1n, expiresAtMs: 1 };

/** DynamoDB numbers have 38 digits. */
const DECIMAL_MAX = 10n ** 38n - 1n;
const INT64_MAX = 2n ** 63n - 1n;

const memory = async (): Promise<LedgerSubject> => {
  const store = new MemoryLedgerStore();
  return {
    store,
    records: store,
    amountMaxPicos: DECIMAL_MAX,
    creditMaxPicos: DECIMAL_MAX,
    block: async (accountId) => store.setStatus(accountId, 'blocked'),
    setCap: async (accountId, keyId, change, nowMs) => store.setCap(accountId, keyId, change, nowMs),
    forgetMonth: async (accountId) => store.forgetMonth(accountId),
    placeHolds: async (accountId, count) => {
      for (const holdId of holdIds(count))
        await store.hold({ accountId, holdId, ...brief, sweepAtMs: 1, previousHoldId: undefined });
    },
    sweepAtOf: async (accountId) => store.sweepAtOf(accountId),
  };
};

const dynamodb = async (): Promise<LedgerSubject> => {
  const { clients, names } = await openTestTables();
  const db = createDatabases(clients);
  const update = async (accountId: string, change: Omit<UpdateRequest, 'table' | 'key'>): Promise<void> => {
    await db.once.update({ table: names.accounts, key: accountKey(accountId), ...change });
  };
  const store = createLedgerStore(db, names.accounts);
  return {
    store,
    records: createLedgerRecords(db.repeating, names.accounts),
    amountMaxPicos: DECIMAL_MAX,
    creditMaxPicos: DECIMAL_MAX,
    block: (accountId) =>
      update(accountId, {
        update: 'SET #status = :blocked',
        names: { '#status': 'status' },
        values: { ':blocked': 'blocked' },
      }),
    setCap: async (accountId, keyId, change, nowMs) => {
      const before = await store.readAccount(accountId);
      if (!before) throw new Error(`there is no account ${accountId}`);
      const after = changeCap(before, keyId, change, nowMs);
      await db.once.update(toReplacement(names.accounts, { before, after, nowMs }));
    },
    forgetMonth: (accountId) => update(accountId, { update: 'REMOVE #month, returned', names: { '#month': 'month' } }),
    placeHolds: (accountId, count) => {
      const hold = { amount: 1, expiresAt: 1 };
      return update(accountId, {
        update: 'SET holds = :holds, available = available - :count',
        values: { ':holds': Object.fromEntries(holdIds(count).map((holdId) => [holdId, hold])), ':count': count },
      });
    },
    sweepAtOf: async (accountId) => {
      const item = await db.once.get(names.accounts, accountKey(accountId));
      return item?.sweepAt === undefined ? undefined : readNumber(item, 'sweepAt');
    },
  };
};

const sqlite = async (): Promise<LedgerSubject> => {
  const db = await openTestDatabase();
  return {
    store: createSqliteStore(db),
    records: createSqliteRecords(db),
    amountMaxPicos: INT64_MAX,
    creditMaxPicos: CREDIT_MAX_PICOS,
    block: async (accountId) => {
      await db.write(() => db.sql("UPDATE accounts SET status = 'blocked' WHERE id = ?").run(accountId));
    },
    setCap: async (accountId, keyId, change, nowMs) => {
      await db.write(() => {
        const before = readAccount(db, accountId);
        if (!before) throw new Error(`there is no account ${accountId}`);
        replaceCaps(db, changeCap(before, keyId, change, nowMs));
      });
    },
    forgetMonth: async (accountId) => {
      await db.write(() => db.sql('UPDATE accounts SET month = NULL, returned = NULL WHERE id = ?').run(accountId));
    },
    placeHolds: async (accountId, count) => {
      await db.write(() => {
        const insert = db.sql('INSERT INTO holds (account_id, hold_id, amount, expires_at) VALUES (?, ?, 1, 1)');
        for (const holdId of holdIds(count)) insert.run(accountId, holdId);
        db.sql('UPDATE accounts SET available = available - ? WHERE id = ?').run(count, accountId);
      });
    },
    sweepAtOf: (accountId) =>
      db.peek(() => {
        const row = db.sql('SELECT sweep_at FROM accounts WHERE id = ?').get(accountId);
        return row && optionalNumberOf(row, 'sweep_at');
      }),
  };
};

export const ledgerSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];

export const expectBalanced = (account: Account): void => {
  expect(account.availablePicos + heldOf(account), 'available + held').toBe(balanceOf(account));
};

/** Wraps the store: after every write it reads the account, which must balance and have counted the write. */
export const watched = (store: LedgerStore): LedgerStore => {
  const around = async <T>(accountId: string, call: () => Promise<T>, wrote: (reply: T) => boolean): Promise<T> => {
    const before = await store.readAccount(accountId);
    const reply = await call();
    const after = await store.readAccount(accountId);
    if (!before || !after) return reply;
    expectBalanced(after);
    expect(after.version - before.version, 'writes counted by version').toBe(wrote(reply) ? 1 : 0);
    if (!wrote(reply)) expect(after).toEqual(before);
    return reply;
  };
  return {
    createAccount: (accountId, nowMs) => store.createAccount(accountId, nowMs),
    closeMonths: (accountId, nowMs) => store.closeMonths(accountId, nowMs),
    readAccount: (accountId) => store.readAccount(accountId),
    readRecord: (accountId, holdId) => store.readRecord(accountId, holdId),
    due: (nowMs, latestMs) => store.due(nowMs, latestMs),
    reschedule: (accountId, atMs, dueMs) => store.reschedule(accountId, atMs, dueMs),
    sweepBy: (accountId, atMs) => store.sweepBy(accountId, atMs),
    clearUncollected: (accountId) => store.clearUncollected(accountId),
    hold: (request) =>
      around(
        request.accountId,
        () => store.hold(request),
        (reply) => reply.kind === 'held',
      ),
    putRecord: (record) =>
      around(
        record.accountId,
        () => store.putRecord(record),
        () => false,
      ),
    apply: (record, amountPicos, nowMs) =>
      around(
        record.accountId,
        () => store.apply(record, amountPicos, nowMs),
        (reply) => reply !== undefined,
      ),
    credit: (request) =>
      around(
        request.accountId,
        () => store.credit(request),
        (reply) => reply.kind === 'credited',
      ),
  };
};
