import type {
  AccountStore,
  Chat,
  CurrentKey,
  KeyReplacement,
  Language,
  NewAccount,
  NewKey,
  Profile,
} from '../../../lambdas/core/accounts/account-store.ts';
import { THRESHOLD_STANDARD } from '../../../lambdas/core/accounts/low-balance.ts';
import { START_REF } from '../../../lambdas/core/ledger/credit.ts';
import type { Account } from '../../../lambdas/core/ledger/ledger.ts';
import { bigintOf, booleanOf, type Database, numberOf, optionalTextOf, type Row, textOf } from './database.ts';
import { hasKey, insertKey } from './key-store.ts';
import { type AccountChange, insertAccount, insertCredit, NEXT_CHANGE, readAccount } from './ledger-store.ts';

export interface AccountStoreOptions {
  /** Called after an account is opened. The other methods move no money. */
  readonly onChange?: ((change: AccountChange) => void) | undefined;
}

/** Accounts, keys and bot chats in SQLite. Everything is durable when it resolves. */
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
    currentKey: (accountId) => db.read(() => readCurrentKey(db, accountId)),
    putFirstKey: (accountId, key, atMs) => db.writeDurably(() => putFirstKey(db, accountId, key, atMs)),
    replaceKey: (replacement) => db.writeDurably(() => replaceKey(db, replacement)),
    revokeKey: (accountId, hash) => db.writeDurably(() => revokeKey(db, accountId, hash)),
    markShown: (accountId, hash) =>
      run('UPDATE current_keys SET shown = 1 WHERE account_id = ? AND hash = ?', accountId, hash),
    setBlocked: (accountId, isBlocked, hash) => db.writeDurably(() => setBlocked(db, accountId, isBlocked, hash)),
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
  insertAccount(db, { accountId, chatId, creditPicos });
  putKey(db, accountId, key, atMs);
  if (chatId !== undefined) db.sql('INSERT INTO chats (id, account_id) VALUES (?, ?)').run(chatId, accountId);
  if (creditPicos !== 0n)
    insertCredit(db, { accountId, ref: START_REF, amountPicos: creditPicos, reason: 'first balance', at: atMs });
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

const thresholdOf = (row: Row): bigint => (row.threshold === null ? THRESHOLD_STANDARD : bigintOf(row, 'threshold'));

const readCurrentKey = (db: Database, accountId: string): CurrentKey | undefined => {
  const row = db.sql('SELECT * FROM current_keys WHERE account_id = ?').get(accountId);
  return row && toCurrentKey(row);
};

const toCurrentKey = (row: Row): CurrentKey => ({
  hash: textOf(row, 'hash'),
  label: { prefix: textOf(row, 'prefix'), lastFour: textOf(row, 'last_four') },
  issuedAtMs: numberOf(row, 'issued_at'),
  isShown: booleanOf(row, 'shown'),
  isRevoked: booleanOf(row, 'revoked'),
});

const isActive = (db: Database, accountId: string): boolean =>
  db.sql("SELECT 1 FROM accounts WHERE id = ? AND status = 'active'").get(accountId) !== undefined;

/** Puts a new key and makes it the account's current one. */
const putKey = (db: Database, accountId: string, key: NewKey, atMs: number): void => {
  insertKey(db, accountId, key);
  db.sql(
    `INSERT OR REPLACE INTO current_keys (account_id, hash, prefix, last_four, issued_at, shown)
     VALUES (?, ?, ?, ?, ?, ?)`,
  ).run(accountId, key.hash, key.label.prefix, key.label.lastFour, atMs, Number(key.isShown));
};

const putFirstKey = (db: Database, accountId: string, key: NewKey, atMs: number): 'put' | 'has-key' | 'no-account' => {
  if (!isActive(db, accountId)) return 'no-account';
  if (readCurrentKey(db, accountId) || hasKey(db, key.hash)) return 'has-key';
  putKey(db, accountId, key, atMs);
  return 'put';
};

const replaceKey = (
  db: Database,
  { accountId, oldHash, key, atMs }: KeyReplacement,
): 'replaced' | 'changed' | 'blocked' => {
  if (!isActive(db, accountId)) return 'blocked';
  if (readCurrentKey(db, accountId)?.hash !== oldHash || hasKey(db, key.hash)) return 'changed';
  revoke(db, oldHash);
  putKey(db, accountId, key, atMs);
  return 'replaced';
};

const revoke = (db: Database, hash: string): void => {
  db.sql("UPDATE keys SET status = 'revoked' WHERE hash = ?").run(hash);
};

const revokeKey = (db: Database, accountId: string, hash: string): 'revoked' | 'changed' => {
  const changed = db.sql('UPDATE current_keys SET revoked = 1 WHERE account_id = ? AND hash = ?').run(accountId, hash);
  if (changed === 0) return 'changed';
  revoke(db, hash);
  return 'revoked';
};

const setBlocked = (
  db: Database,
  accountId: string,
  isBlocked: boolean,
  hash: string | undefined,
): 'set' | 'changed' | 'no-account' => {
  if (!readProfile(db, accountId)) return 'no-account';
  if (readCurrentKey(db, accountId)?.hash !== hash) return 'changed';
  changeAccount(db, accountId, 'status', isBlocked ? 'blocked' : 'active');
  if (hash !== undefined) db.sql('UPDATE keys SET blocked = ? WHERE hash = ?').run(Number(isBlocked), hash);
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
