import {
  FIRST_KEY_PROPERTIES,
  type KeyProperties,
  type KeyRing,
  type KeyRingChange,
  type KeyRingReply,
  type NamedKey,
} from '../../core/accounts/key-ring.ts';
import { keyIdOf } from '../../core/accounts/keys.ts';
import { currentKeyKey, toCurrentKey } from './chat-item.ts';
import { type DynamoDB, putNew, type Write } from './dynamodb.ts';
import { type Item, isList, isMap, readMap, readNumber, readText } from './item.ts';
import {
  type AccountTables,
  ifActive,
  ifCurrent,
  revoke,
  setLimits,
  toFactorAttributes,
  toKeyItem,
  toLimitAttributes,
  toLimits,
} from './key-item.ts';
import { accountKey } from './ledger-items.ts';
import { toClosingWrites, toReplacement } from './replace-account.ts';

/**
 * Key of the item with the named keys of an account. It is an item of its own, because a release without named keys
 * replaces the item of the current key as a whole.
 */
const ringKey = (accountId: string): Item => ({ pk: `account#${accountId}`, sk: 'KEYS' });

export const readKeyRing = async (db: DynamoDB, { accounts }: AccountTables, accountId: string): Promise<KeyRing> => {
  const [current, ring] = await Promise.all([
    db.get(accounts, currentKeyKey(accountId)),
    db.get(accounts, ringKey(accountId)),
  ]);
  return {
    version: ring ? readNumber(ring, 'version') : 0,
    first: current && toCurrentKey(current),
    firstProperties: ring ? toProperties(readMap(ring, 'firstKey')) : FIRST_KEY_PROPERTIES,
    named: isList(ring?.namedKeys) ? ring.namedKeys.filter(isMap).map(toNamedKey) : [],
  };
};

const toProperties = (item: Item): KeyProperties => ({
  name: readText(item, 'name'),
  manage: item.manage === true,
  version: readNumber(item, 'version'),
});

const toNamedKey = (item: Item): NamedKey => ({
  ...toProperties(item),
  hash: readText(item, 'hash'),
  label: { prefix: readText(item, 'prefix'), lastFour: readText(item, 'lastFour') },
  createdAtMs: readNumber(item, 'createdAt'),
  limits: toLimits(item),
});

const toNamedItem = (key: NamedKey): Item => ({
  ...toPropertyItem(key),
  hash: key.hash,
  prefix: key.label.prefix,
  lastFour: key.label.lastFour,
  createdAt: key.createdAtMs,
  ...toLimitAttributes(key.limits),
});

const toPropertyItem = ({ name, manage, version }: KeyProperties): Item => ({ name, manage, version });

export const changeKeyRing = async (
  db: DynamoDB,
  tables: AccountTables,
  change: KeyRingChange,
): Promise<KeyRingReply> => {
  // The write of the cap requires this version of the account, so no transaction follows for a blocked one.
  if (change.key?.kind === 'add' && change.account?.before.status === 'blocked') return 'blocked';
  const cancelled = await db.transact([
    toRingUpdate(tables, change),
    toFirstKeyWrite(tables, change),
    ...toKeyWrites(tables, change),
    ...toAccountWrites(tables, change),
  ]);
  if (!cancelled) return 'written';
  const isBlocked = change.key?.kind === 'add' && !change.account && cancelled.at(-1)?.isConditionFailed;
  return isBlocked && cancelled.filter(({ isConditionFailed }) => isConditionFailed).length === 1
    ? 'blocked'
    : 'changed';
};

const toRingUpdate = ({ accounts }: AccountTables, { accountId, before, after }: KeyRingChange): Write => ({
  update: {
    table: accounts,
    key: ringKey(accountId),
    update: 'SET version = :after, firstKey = :firstKey, namedKeys = :named',
    ...ifVersion(before.version),
    values: {
      ...ifVersion(before.version).values,
      ':after': before.version + 1,
      ':firstKey': toPropertyItem(after.firstProperties),
      ':named': after.named.map(toNamedItem),
    },
  },
});

/** Condition of a ring that is still at this version. */
const ifVersion = (version: number): { readonly condition: string; readonly values: Item } =>
  version === 0
    ? { condition: 'attribute_not_exists(pk)', values: {} }
    : { condition: 'version = :before', values: { ':before': version } };

/** Check that an account still has these named keys. */
export const checkRing = ({ accounts }: AccountTables, accountId: string, version: number): Write => {
  const { condition, values } = ifVersion(version);
  return {
    check: { table: accounts, key: ringKey(accountId), condition, ...(version === 0 ? {} : { values }) },
  };
};

/** The first key must be the one that was read, because it may have the right to make this change. */
const toFirstKeyWrite = ({ accounts }: AccountTables, { accountId, before: { first }, key }: KeyRingChange): Write => {
  const item = { table: accounts, key: currentKeyKey(accountId) };
  if (!first) return { check: { ...item, condition: 'attribute_not_exists(pk)' } };
  const current = ifCurrent(first.hash);
  const revokes = key?.kind === 'revoke' && key.hash === first.hash;
  const condition = first.isRevoked
    ? `${current.condition} AND revoked = :revoked`
    : `${current.condition} AND (attribute_not_exists(revoked) OR revoked = :revoked)`;
  const values = { ...current.values, ':revoked': first.isRevoked };
  if (!revokes) return { check: { ...item, condition, names: current.names, values } };
  return {
    update: {
      ...item,
      update: 'SET revoked = :now',
      condition,
      names: current.names,
      values: { ...values, ':now': true },
    },
  };
};

const toKeyWrites = (tables: AccountTables, { accountId, key }: KeyRingChange): Write[] => {
  if (!key) return [];
  if (key.kind === 'limit') return [setLimits(tables, key.hash, key.limits)];
  if (key.kind === 'revoke') return [revoke(tables, key.hash)];
  const item = { ...toKeyItem(accountId, key.key, key.limits), ...toFactorAttributes(key.factor) };
  return [putNew(tables.keys, item)];
};

/** A blocked account gets no key. */
const toAccountWrites = (tables: AccountTables, { accountId, key, account }: KeyRingChange): readonly Write[] => {
  if (account) {
    return [{ update: toReplacement(tables.accounts, account) }, ...toClosingWrites(tables.accounts, account)];
  }
  if (key?.kind === 'revoke' && key.hasCap) return [removeCap(tables, accountId, key.hash)];
  return key?.kind === 'add' ? [ifActive(tables, accountId)] : [];
};

/** Does not require a version, so that a key can be revoked while many requests change the account. */
const removeCap = ({ accounts }: AccountTables, accountId: string, hash: string): Write => ({
  update: {
    table: accounts,
    key: accountKey(accountId),
    update: 'SET version = version + :one REMOVE caps.#cap',
    condition: 'attribute_exists(caps.#cap)',
    names: { '#cap': keyIdOf(hash) },
    values: { ':one': 1 },
  },
});
