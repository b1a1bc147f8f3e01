import {
  type AccountStore,
  type NamedHashes,
  type NewAccount,
  NO_NAMED_KEYS,
} from '../../core/accounts/account-store.ts';
import { START_REF } from '../../core/ledger/credit.ts';
import { monthOf } from '../../core/ledger/month.ts';
import { chatKey, currentKeyKey, newChatItem, toChat, toCurrentKeyItem, toProfile } from './chat-item.ts';
import { toCreditItem, toMonthCreditItem } from './credit-items.ts';
import { type DynamoDB, putNew, type Write } from './dynamodb.ts';
import type { Item } from './item.ts';
import { type AccountTables, ifCurrent, toKeyItem } from './key-item.ts';
import { checkRing } from './key-ring.ts';
import { accountKey, newAccountItem } from './ledger-items.ts';

export const createAccountStore = (db: DynamoDB, tables: AccountTables): AccountStore => {
  const update = (key: Item, change: Change) => updateItem(db, tables.accounts, key, change);
  return {
    open: (account) => openAccount(db, tables, account),
    chat: async (chatId) => {
      const item = await db.get(tables.accounts, chatKey(chatId));
      return item && toChat(chatId, item);
    },
    profile: async (accountId) => {
      const item = await db.get(tables.accounts, accountKey(accountId));
      return item && toProfile(item);
    },
    setBlocked: (accountId, isBlocked, hash, named = NO_NAMED_KEYS) =>
      setBlocked(db, tables, { accountId, isBlocked, hash, named }),
    setThreshold: async (accountId, picos) => {
      const done = await update(accountKey(accountId), {
        set: 'threshold = :picos, version = version + :one',
        condition: 'attribute_exists(pk)',
        values: { ':picos': picos, ':one': 1 },
      });
      return done ? 'set' : 'no-account';
    },
    setLanguage: async (chatId, language) => {
      await update(chatKey(chatId), {
        set: '#language = :language',
        // An unchanged value does not change the item and causes no stream record.
        condition: 'attribute_exists(pk) AND (attribute_not_exists(#language) OR #language <> :language)',
        names: { '#language': 'language' },
        values: { ':language': language },
      });
    },
    setChatClosed: async (chatId, isClosed) => {
      await update(chatKey(chatId), {
        set: 'closed = :closed',
        condition: 'attribute_exists(pk)',
        values: { ':closed': isClosed },
      });
    },
    markNoticed: async (chatId, version) => {
      await update(chatKey(chatId), {
        set: 'noticed = :version',
        condition: 'noticed < :version',
        values: { ':version': version },
      });
    },
  };
};

interface Blocking {
  readonly accountId: string;
  readonly isBlocked: boolean;
  readonly hash: string | undefined;
  readonly named: NamedHashes;
}

/** Sets the status of the account, which the store of holds checks, and of its API keys, which the gateway checks. */
const setBlocked = async (
  db: DynamoDB,
  tables: AccountTables,
  { accountId, isBlocked, hash, named }: Blocking,
): Promise<'set' | 'changed' | 'no-account'> => {
  const account: Write = {
    update: {
      table: tables.accounts,
      key: accountKey(accountId),
      update: 'SET #status = :status, version = version + :one',
      condition: 'attribute_exists(pk)',
      names: { '#status': 'status' },
      values: { ':status': isBlocked ? 'blocked' : 'active', ':one': 1 },
    },
  };
  const cancelled = await db.transact([account, ...blockKeys(tables, { accountId, isBlocked, hash, named })]);
  if (!cancelled) return 'set';
  return cancelled[0]?.isConditionFailed ? 'no-account' : 'changed';
};

const blockKeys = (tables: AccountTables, { accountId, isBlocked, hash, named }: Blocking): Write[] => {
  const { accounts, keys } = tables;
  const key = currentKeyKey(accountId);
  const current: Write = {
    check: {
      table: accounts,
      key,
      ...(hash === undefined ? { condition: 'attribute_not_exists(pk)' } : ifCurrent(hash)),
    },
  };
  const hashes = [...(hash === undefined ? [] : [hash]), ...named.hashes];
  return [
    current,
    checkRing(tables, accountId, named.version),
    ...hashes.map(
      (pk): Write => ({
        update: {
          table: keys,
          key: { pk },
          update: 'SET blocked = :blocked',
          condition: 'attribute_exists(pk)',
          values: { ':blocked': isBlocked },
        },
      }),
    ),
  ];
};

interface Change {
  readonly set: string;
  readonly condition: string;
  readonly names?: Record<string, string>;
  readonly values: Item;
}

/** Whether the condition held, so that the item changed. */
const updateItem = async (
  db: DynamoDB,
  table: string,
  key: Item,
  { set, condition, names, values }: Change,
): Promise<boolean> => {
  const reply = await db.update({ table, key, update: `SET ${set}`, condition, names, values });
  return 'written' in reply;
};

const openAccount = async (
  db: DynamoDB,
  { accounts, keys }: AccountTables,
  account: NewAccount,
): Promise<'opened' | 'exists'> => {
  const { accountId, chatId, key, creditPicos, atMs } = account;
  const credit = { accountId, ref: START_REF, amountPicos: creditPicos, reason: 'first balance', at: atMs };
  const month = monthOf(atMs);
  const cancelled = await db.transact([
    putNew(accounts, toAccountItem(account)),
    putNew(accounts, toCurrentKeyItem(accountId, key, atMs)),
    putNew(keys, toKeyItem(accountId, key)),
    ...(chatId === undefined ? [] : [putNew(accounts, newChatItem(chatId, accountId))]),
    ...(creditPicos === 0n
      ? []
      : [putNew(accounts, toCreditItem(credit, month)), putNew(accounts, toMonthCreditItem(credit, month))]),
  ]);
  return cancelled ? 'exists' : 'opened';
};

const toAccountItem = ({ accountId, chatId, creditPicos, atMs }: NewAccount): Item => ({
  ...newAccountItem(accountId, atMs),
  available: creditPicos,
  credited: creditPicos,
  ...(chatId === undefined ? {} : { chat: chatId }),
});
