import {
  type AccountStore,
  type Chat,
  type Language,
  type NamedHashes,
  type NewAccount,
  NO_NAMED_KEYS,
  type Profile,
} from '../../../lambdas/core/accounts/account-store.ts';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../lambdas/core/accounts/low-balance.ts';
import { START_REF } from '../../../lambdas/core/ledger/credit.ts';
import type { Account } from '../../../lambdas/core/ledger/ledger.ts';
import { monthOf } from '../../../lambdas/core/ledger/month.ts';
import { NEXT_CHANGE, readAccount } from './account-rows.ts';
import { insertCredit } from './credits.ts';
import { bigintOf, booleanOf, type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { readKeyRing } from './key-ring.ts';
import { hasKey, putKey, readCurrentKey } from './key-rows.ts';
import { type AccountChange, insertAccount } from './ledger-store.ts';

export interface AccountStoreOptions {
  /** Called after an account is opened. The other methods move no money. */
  readonly onChange?: ((change: AccountChange) => void) | undefined;
}

/** Accounts and bot chats in SQLite. Everything is durable when it resolves. */
export const createAccountStore = (db: Database, { onChange }: AccountStoreOptions = {}): AccountStore => {
  const run = async (sql: string, ...values: (string | number)[]): Promise<void> => {
    await db.writeDurably(() => db.sql(sql).run(...values));
  };
  return {
    open: async (account) => {
      const after = await db.writeDurably(() => open(db, account));
      if (after) onChange?.({ before: undefined, after });
      return after ? 'opened' : 'exists';
    },
    chat: (chatId) => db.read(() => readChat(db, chatId)),
    profile: (accountId) => db.read(() => readProfile(db, accountId)),
    setBlocked: (accountId, isBlocked, hash, named = NO_NAMED_KEYS) =>
      db.writeDurably(() => setBlocked(db, { accountId, isBlocked, hash, named })),
    setThreshold: (accountId, picos) =>
      db.writeDurably(() => (changeAccount(db, accountId, 'threshold', picos) ? 'set' : 'no-account')),
    setLanguage: (chatId, language) => run('UPDATE chats SET language = ? WHERE id = ?', language, chatId),
    setChatClosed: (chatId, isClosed) => run('UPDATE chats SET closed = ? WHERE id = ?', Number(isClosed), chatId),
    markNoticed: (chatId, version) => run('UPDATE chats SET noticed = max(noticed, ?) WHERE id = ?', version, chatId),
  };
};

/** Returns undefined, and writes nothing, if the account, the chat or the key exists. */
const open = (db: Database, { accountId, chatId, key, creditPicos, atMs }: NewAccount): Account | undefined => {
  const isTaken =
    readProfile(db, accountId) ||
    readCurrentKey(db, accountId) ||
    hasKey(db, key.hash) ||
    (chatId !== undefined && readChat(db, chatId));
  if (isTaken) return undefined;
  insertAccount(db, { accountId, chatId, creditPicos, nowMs: atMs });
  putKey(db, accountId, key, atMs);
  if (chatId !== undefined) db.sql('INSERT INTO chats (id, account_id) VALUES (?, ?)').run(chatId, accountId);
  if (creditPicos !== 0n)
    insertCredit(
      db,
      { accountId, ref: START_REF, amountPicos: creditPicos, reason: 'first balance', at: atMs },
      monthOf(atMs),
    );
  return readAccount(db, accountId);
};

const readChat = (db: Database, chatId: string): Chat | undefined => {
  const row = db.sql('SELECT * FROM chats WHERE id = ?').get(chatId);
  return row && toChat(row);
};

const toChat = (row: Row): Chat => ({
  id: textOf(row, 'id'),
  accountId: textOf(row, 'account_id'),
  language: toLanguage(optionalTextOf(row, 'language')),
  isClosed: booleanOf(row, 'closed'),
  noticedVersion: numberOf(row, 'noticed'),
});

const toLanguage = (value: string | undefined): Language | undefined =>
  value === 'en' || value === 'ru' ? value : undefined;

const readProfile = (db: Database, accountId: string): Profile | undefined => {
  const row = db.sql('SELECT chat_id, threshold FROM accounts WHERE id = ?').get(accountId);
  return row && { accountId, chatId: optionalTextOf(row, 'chat_id'), thresholdPicos: thresholdOf(row) };
};

const thresholdOf = (row: Row): bigint =>
  row.threshold === null ? LOW_BALANCE_THRESHOLD_DEFAULT : bigintOf(row, 'threshold');

interface Blocking {
  readonly accountId: string;
  readonly isBlocked: boolean;
  readonly hash: string | undefined;
  readonly named: NamedHashes;
}

const setBlocked = (
  db: Database,
  { accountId, isBlocked, hash, named }: Blocking,
): 'set' | 'changed' | 'no-account' => {
  if (!readProfile(db, accountId)) return 'no-account';
  const ring = readKeyRing(db, accountId);
  if (ring.first?.hash !== hash || ring.version !== named.version) return 'changed';
  changeAccount(db, accountId, 'status', isBlocked ? 'blocked' : 'active');
  for (const each of [...(hash === undefined ? [] : [hash]), ...named.hashes]) {
    db.sql('UPDATE keys SET blocked = ? WHERE hash = ?').run(Number(isBlocked), each);
  }
  return 'set';
};

/** Returns whether the account exists. */
const changeAccount = (
  db: Database,
  accountId: string,
  column: 'status' | 'threshold',
  value: string | bigint,
): boolean =>
  db
    .sql(`UPDATE accounts SET ${column} = ?, version = version + 1, change = ${NEXT_CHANGE} WHERE id = ?`)
    .run(value, accountId) === 1;
