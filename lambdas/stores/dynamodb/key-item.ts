import { capKinds, isRestricted, type KeyLimits } from '../../core/accounts/key-ring.ts';
import type { KeyRecord } from '../../core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../core/accounts/keys.ts';
import type { StoredAllowance } from '../../core/ledger/allowance.ts';
import type { CapKind } from '../../core/ledger/caps.ts';
import type { StoredFactor } from '../../core/pricing/estimate-factor.ts';
import type { Write } from './dynamodb.ts';
import { type Item, readBigint, readFraction, readMap, readNumber, readText, readTexts } from './item.ts';
import { accountKey } from './ledger-items.ts';

export interface AccountTables {
  readonly accounts: string;
  readonly keys: string;
}

/**
 * Item of a new API key. One transaction writes it and the account's item that names it. It never replaces an existing
 * key item.
 */
export const toKeyItem = (accountId: string, { hash, label, pepperId }: NewKey, limits: KeyLimits = {}): Item => ({
  pk: hash,
  accountId,
  status: statusOf(limits),
  prefix: label.prefix,
  lastFour: label.lastFour,
  pepperId,
  tat: 0,
  ...toLimitAttributes(limits),
});

/** A release without restrictions accepts only `active`, so it rejects a restricted key. */
const statusOf = (limits: KeyLimits): 'active' | 'restricted' => (isRestricted(limits) ? 'restricted' : 'active');

/** Condition of a key item that is not revoked, and the names and values that it uses. */
export const ifUsable = {
  condition: '(#status = :active OR #status = :restricted)',
  names: { '#status': 'status' },
  values: { ':active': 'active', ':restricted': 'restricted' },
} as const;

export const toKey = (hash: string, item: Item): KeyRecord => ({
  keyId: keyIdOf(hash),
  accountId: readText(item, 'accountId'),
  status: ['active', 'restricted'].includes(readText(item, 'status')) ? 'active' : 'revoked',
  blocked: item.blocked === true,
  tatMicros: item.tat === undefined ? 0 : readNumber(item, 'tat'),
  factor: toFactor(item),
  allowance: toStoredAllowance(item),
  ...toLimits(item),
});

/** Attributes of the restrictions, in a key item and in the list of named keys. */
export const toLimitAttributes = ({ expiresAtMs, models, rate, cap }: KeyLimits): Item => ({
  ...(expiresAtMs === undefined ? {} : { validUntil: expiresAtMs }),
  ...(models === undefined ? {} : { models }),
  ...(rate === undefined ? {} : { rate }),
  ...(cap === undefined ? {} : { cap: { kind: cap.kind, epoch: cap.epoch } }),
});

const LIMIT_ATTRIBUTES = ['validUntil', 'models', 'rate', 'cap'] as const;

export const toLimits = (item: Item): KeyLimits => ({
  ...(item.validUntil === undefined ? {} : { expiresAtMs: readNumber(item, 'validUntil') }),
  ...(item.models === undefined ? {} : { models: readTexts(item, 'models') }),
  ...(item.rate === undefined ? {} : { rate: readFraction(item, 'rate') }),
  ...(item.cap === undefined ? {} : { cap: toCap(readMap(item, 'cap')) }),
});

const toCap = (cap: Item): KeyLimits['cap'] => ({
  kind: toKind(readText(cap, 'kind')),
  epoch: readNumber(cap, 'epoch'),
});

/** A kind of a newer release is any kind: the cap of the account decides, and it has a period that no hold names. */
const toKind = (text: string): CapKind => capKinds.find((known) => known === text) ?? 'total';

/** Replaces the restrictions of a key that is not revoked. */
export const setLimits = ({ keys }: AccountTables, hash: string, limits: KeyLimits): Write => {
  const attributes = toLimitAttributes(limits);
  const names = LIMIT_ATTRIBUTES.map((name) => [`#${name}`, name] as const);
  const set = names.filter(([, name]) => attributes[name] !== undefined);
  const removed = names.filter(([, name]) => attributes[name] === undefined);
  const assignments = ['#status = :status', ...set.map(([name, attribute]) => `${name} = :${attribute}`)];
  return {
    update: {
      table: keys,
      key: { pk: hash },
      update: `SET ${assignments.join(', ')}${removed.length > 0 ? ` REMOVE ${removed.map(([name]) => name).join(', ')}` : ''}`,
      condition: ifUsable.condition,
      names: { ...ifUsable.names, ...Object.fromEntries(names) },
      values: {
        ...ifUsable.values,
        ':status': statusOf(limits),
        ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`:${name}`, value])),
      },
    },
  };
};

export const toFactor = (item: Item): StoredFactor | undefined =>
  item.estimateFactor === undefined
    ? undefined
    : { factor: readFraction(item, 'estimateFactor'), atMs: readNumber(item, 'estimateFactorAt') };

const toStoredAllowance = (item: Item): StoredAllowance | undefined =>
  item.allowance === undefined
    ? undefined
    : { picos: readBigint(item, 'allowance'), atMs: readNumber(item, 'allowanceAt') };

export const toFactorAttributes = (factor: StoredFactor | undefined): Item =>
  factor ? { estimateFactor: factor.factor, estimateFactorAt: factor.atMs } : {};

export const ifActive = ({ accounts }: AccountTables, accountId: string): Write => ({
  check: {
    table: accounts,
    key: accountKey(accountId),
    condition: '#status = :active',
    names: { '#status': 'status' },
    values: { ':active': 'active' },
  },
});

export const ifCurrent = (hash: string) => ({
  condition: '#hash = :hash',
  names: { '#hash': 'hash' },
  values: { ':hash': hash },
});

export interface Condition {
  readonly condition: string;
  readonly values?: Item;
}

export const revoke = (
  { keys }: AccountTables,
  hash: string,
  { condition, values }: Condition = { condition: 'attribute_exists(pk)' },
): Write => ({
  update: {
    table: keys,
    key: { pk: hash },
    update: 'SET #status = :revoked',
    condition,
    names: { '#status': 'status' },
    values: { ':revoked': 'revoked', ...values },
    onFailure: 'ALL_OLD',
  },
});
