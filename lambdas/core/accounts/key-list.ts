import { StoreError } from '../errors/store-error.ts';
import { type CapStatus, capStatus } from '../ledger/cap-status.ts';
import type { Account } from '../ledger/ledger.ts';
import type { Bucket } from '../limits/rate-limit.ts';
import { retryUntilDefinite } from '../retry.ts';
import { type AccountKeyDependencies, type CreatedKey, findKey, type KeyCaller } from './account-keys.ts';
import { type Actor, authorize, mayManage } from './key-change.ts';
import { type KeyLimits, type KeyRing, keyBucketOf, type NamedKey } from './key-ring.ts';
import type { KeyRecord, KeyStore } from './key-store.ts';
import { type KeyLabel, keyIdOf } from './keys.ts';

/** Returns the charges of API keys in pico-USD by key id. They may be a minute late. Undefined: they are unknown. */
export type SpentByKey = (
  accountId: string,
  keyIds: readonly string[],
) => Promise<ReadonlyMap<string, bigint> | undefined>;

export interface KeyListDependencies extends AccountKeyDependencies {
  /** Undefined if nothing sums the charges by key. */
  readonly spentByKey?: SpentByKey | undefined;
}

/** An API key as its owner sees it. */
export interface KeyView {
  readonly keyId: string;
  readonly name: string;
  readonly label: KeyLabel;
  readonly isFirst: boolean;
  readonly manage: boolean;
  readonly version: number;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** Unix milliseconds. Undefined before the first use. */
  readonly lastUsedAtMs: number | undefined;
  readonly limits: KeyLimits;
  /** State of the cap. Undefined without one. */
  readonly cap: CapStatus | undefined;
  /** Charges in pico-USD: of the present period with a cap, otherwise of all time. Undefined: unknown. */
  readonly spentPicos: bigint | undefined;
}

/** KEY-8: the keys of an account, the first key first. Throws 403 `key_right_missing` and StoreError. */
export const listAccountKeys = async (deps: KeyListDependencies, caller: KeyCaller): Promise<readonly KeyView[]> => {
  const ring = await retryUntilDefinite(deps, () => deps.keys.ring(caller.accountId));
  authorize(ring, caller.actor);
  return toViews(deps, caller, keysOf(ring));
};

/** KEY-8. Throws 403 `key_right_missing`, 404 `not_found` and StoreError. */
export const readAccountKey = async (deps: KeyListDependencies, caller: KeyCaller, keyId: string): Promise<KeyView> => {
  const ring = await retryUntilDefinite(deps, () => deps.keys.ring(caller.accountId));
  authorize(ring, caller.actor);
  findKey(ring, { keyId });
  const keys = keysOf(ring).filter(({ hash }) => keyIdOf(hash) === keyId);
  const [view] = await toViews(deps, caller, keys);
  if (!view) throw new Error('a key of the ring has no view');
  return view;
};

export interface KeyNameDependencies extends Pick<KeyListDependencies, 'clock' | 'random'> {
  readonly keys: Pick<KeyStore, 'ring'>;
}

/**
 * Returns the names of the keys that exist, by key id. An API key without the right `manage` gets only its own. Throws
 * StoreError.
 */
export const readKeyNames = async (
  deps: KeyNameDependencies,
  accountId: string,
  actor: Actor,
): Promise<ReadonlyMap<string, string>> => {
  const ring = await retryUntilDefinite(deps, () => deps.keys.ring(accountId));
  const names = keysOf(ring).map(({ hash, name }) => [keyIdOf(hash), name] as const);
  return new Map(
    actor === 'owner' || mayManage(ring, actor.keyId) ? names : names.filter(([id]) => id === actor.keyId),
  );
};

/** Returns a key that was just created. Makes no store call, because the key can be shown only once. */
export const viewCreatedKey = (deps: KeyListDependencies, { key, account }: CreatedKey): KeyView =>
  toView(deps, { ...key, isFirst: false }, undefined, account, new Map());

interface ListedKey extends NamedKey {
  readonly isFirst: boolean;
}

const keysOf = ({ first, firstProperties, named }: KeyRing): readonly ListedKey[] => [
  ...(first && !first.isRevoked
    ? [{ ...first, ...firstProperties, createdAtMs: first.issuedAtMs, limits: {}, isFirst: true }]
    : []),
  ...named.map((key) => ({ ...key, isFirst: false })),
];

const toViews = async (
  deps: KeyListDependencies,
  { accountId }: KeyCaller,
  keys: readonly ListedKey[],
): Promise<readonly KeyView[]> => {
  const capped = keys.some(({ limits }) => limits.cap !== undefined);
  const uncapped = keys.filter(({ limits }) => limits.cap === undefined).map(({ hash }) => keyIdOf(hash));
  const [records, account, spent] = await Promise.all([
    retryUntilDefinite(deps, () => deps.keys.readMany(keys.map(({ hash }) => hash))),
    capped ? retryUntilDefinite(deps, () => deps.ledgerStore.readAccount(accountId)) : undefined,
    uncapped.length > 0 ? deps.spentByKey?.(accountId, uncapped).catch(ignoreStore) : undefined,
  ]);
  return keys.map((key) => toView(deps, key, records.get(key.hash), account, spent));
};

/** The keys are shown although their charges cannot be read now. */
const ignoreStore = (error: unknown): undefined => {
  if (!(error instanceof StoreError)) throw error;
};

const toView = (
  { clock, keyBucket }: KeyListDependencies,
  { hash, name, label, isFirst, manage, version, createdAtMs, limits }: ListedKey,
  record: KeyRecord | undefined,
  account: Account | undefined,
  spent: ReadonlyMap<string, bigint> | undefined,
): KeyView => {
  const keyId = keyIdOf(hash);
  const nowMs = clock.now();
  const cap = limits.cap && account && capStatus(account, keyId, nowMs);
  const view = { keyId, name, label, isFirst, manage, version, createdAtMs, limits, cap };
  return {
    ...view,
    lastUsedAtMs: record && lastUseOf(keyBucketOf(keyBucket, record), record.tatMicros, nowMs),
    spentPicos: limits.cap ? cap?.spentPicos : spent && (spent.get(keyId) ?? 0n),
  };
};

/**
 * Time of the last request, from the bucket of the key. A burst moves the bucket ahead of the clock by at most its
 * length, which is less than 15 s.
 */
const lastUseOf = ({ intervalMicros }: Bucket, tatMicros: number, nowMs: number): number | undefined =>
  tatMicros === 0 ? undefined : Math.min(nowMs, Math.floor((tatMicros - intervalMicros) / 1_000));
