import type { Catalog } from '../catalog/catalog.ts';
import type { Clock } from '../clock.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { refuseLimitBelowUse } from '../ledger/cap-status.ts';
import { type CapChange, changeCap, keyCapOf } from '../ledger/caps.ts';
import type { Account, LedgerStore } from '../ledger/ledger.ts';
import { monthOfWrite } from '../ledger/month.ts';
import type { Bucket } from '../limits/rate-limit.ts';
import { factorAt, type StoredFactor } from '../pricing/estimate-factor.ts';
import { retryUntilDefinite } from '../retry.ts';
import { inheritAllowance } from './daily-allowance.ts';
import {
  type Actor,
  authorize,
  type ChangedKey,
  type ChangeRules,
  changeKey,
  type KeyChange,
  type NewKeyChange,
  refuseRestrictedFirst,
} from './key-change.ts';
import {
  KEYS_MAX,
  type KeyLimits,
  type KeyProperties,
  type KeyRing,
  type KeyRingChange,
  type NamedKey,
} from './key-ring.ts';
import type { KeyStore } from './key-store.ts';
import { type KeyDependencies, keyIdOf, makeKey } from './keys.ts';

export interface AccountKeyDependencies extends KeyDependencies {
  readonly keys: KeyStore;
  readonly ledgerStore: Pick<LedgerStore, 'readAccount'>;
  readonly catalog: Pick<Catalog, 'find' | 'explainMissing'>;
  /** Bucket of an API key without an own rate. */
  readonly keyBucket: Bucket;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Account and the one who reads or changes its keys. */
export interface KeyCaller {
  readonly accountId: string;
  readonly actor: Actor;
}

export interface CreatedKey {
  /** Shown to its owner once and stored nowhere. */
  readonly apiKey: string;
  readonly key: NamedKey;
  /** Account with the cap of the key. Undefined if it has none. */
  readonly account: Account | undefined;
}

/** Number of attempts of a change. An attempt fails if another change of the keys or the account comes first. */
const TRIES = 10;

interface Plan<Result> {
  readonly change: Omit<KeyRingChange, 'accountId' | 'before'>;
  readonly result: Result;
  /** Whether a ring shows this change. A write whose reply was lost is repeated and then fails. */
  readonly isIn: (ring: KeyRing) => boolean | Promise<boolean>;
}

/** Reads the keys, plans a change and writes it, until no other change comes first. Throws GatewayError, StoreError. */
const change = async <Result>(
  deps: AccountKeyDependencies,
  { accountId }: KeyCaller,
  plan: (ring: KeyRing) => Promise<Plan<Result>>,
): Promise<Result> => {
  let before = await retryUntilDefinite(deps, () => deps.keys.ring(accountId));
  for (let tries = TRIES; tries > 0; tries -= 1) {
    const planned = await plan(before);
    const reply = await retryUntilDefinite(deps, () => deps.keys.changeRing({ ...planned.change, accountId, before }));
    if (reply === 'written') return planned.result;
    before = await retryUntilDefinite(deps, () => deps.keys.ring(accountId));
    if (await planned.isIn(before)) return planned.result;
    if (reply === 'blocked') {
      throw new GatewayError(
        'account_blocked',
        'This account is blocked for a violation of the terms. Contact the operator of this service.',
      );
    }
  }
  throw new GatewayError('service_unavailable', 'The API keys of this account are changing. Retry later.', {
    retryAfterSeconds: 1,
  });
};

const rulesOf = (deps: AccountKeyDependencies, actorRate: number | undefined): ChangeRules => ({
  catalog: deps.catalog,
  rateMax: Math.round(1_000_000 / deps.keyBucket.intervalMicros),
  actorRate,
  nowMs: deps.clock.now(),
});

const NEW_KEY = { limits: {}, manage: false } as const;

/** KEY-8: adds an API key to the account. Throws 400 by field, 403 and StoreError. */
export const createAccountKey = async (
  deps: AccountKeyDependencies,
  caller: KeyCaller,
  wanted: NewKeyChange,
): Promise<CreatedKey> => {
  const { apiKey, key } = makeKey(deps, true);
  const { hash, label } = key;
  const keyId = keyIdOf(hash);
  let others: readonly string[] = [];
  const created = await change(deps, caller, async (before) => {
    const actorRate = authorize(before, caller.actor);
    refuseManyKeys(before);
    others = hashesOf(before);
    const changed = changeKey(NEW_KEY, undefined, { ...wanted, rate: wanted.rate ?? null }, rulesOf(deps, actorRate));
    const { manage } = changed;
    const { account, limits } = await planCap(deps, caller, { keyId, limits: {} }, changed);
    const version = before.version + 1;
    const added: NamedKey = { hash, label, name: wanted.name, createdAtMs: deps.clock.now(), manage, limits, version };
    return {
      change: {
        after: { firstProperties: before.firstProperties, named: [...before.named, added] },
        key: { kind: 'add', key, limits, factor: await readFactor(deps, before) },
        account,
      },
      result: { apiKey, key: added, account: account?.after },
      isIn: ({ named }) => named.some((other) => other.hash === hash),
    };
  });
  await inheritAllowance(deps.keys, others, hash);
  return created;
};

const hashesOf = ({ first, named }: KeyRing): readonly string[] =>
  [...(first ? [first] : []), ...named].map(({ hash }) => hash);

const refuseManyKeys = ({ first, named }: KeyRing): void => {
  const count = named.length + (first && !first.isRevoked ? 1 : 0);
  if (count < KEYS_MAX) return;
  const message = `This account has ${KEYS_MAX} API keys, which is the limit. Delete one first.`;
  throw new GatewayError('invalid_request_error', message);
};

/** Highest estimate factor of the present keys (BILL-20), so that a new key does not avoid it. */
const readFactor = async (
  { keys, clock }: AccountKeyDependencies,
  ring: KeyRing,
): Promise<StoredFactor | undefined> => {
  const records = await keys.readMany(hashesOf(ring));
  const nowMs = clock.now();
  const factors = [...records.values()].flatMap(({ factor }) => factor ?? []);
  return factors.toSorted((one, other) => factorAt(other, nowMs) - factorAt(one, nowMs))[0];
};

/** Key to change, and the version that the caller has seen; undefined means any. */
export interface KeyTarget {
  readonly keyId: string;
  readonly version?: number | undefined;
}

/** KEY-8: changes an API key. Throws 400 by field, 403, 404 `not_found`, 409 `key_changed` and StoreError. */
export const editAccountKey = (
  deps: AccountKeyDependencies,
  caller: KeyCaller,
  target: KeyTarget,
  wanted: KeyChange,
): Promise<void> =>
  change(deps, caller, async (before) => {
    const actorRate = authorize(before, caller.actor, target.keyId);
    const key = findKey(before, target);
    const version = before.version + 1;
    if (key === 'first') return planFirst(before, wanted, version);
    const present = await readCap(deps, caller, key);
    const changed = changeKey(key, present, wanted, rulesOf(deps, actorRate));
    const { manage } = changed;
    const { account, limits } = await planCap(deps, caller, { keyId: target.keyId, limits: key.limits }, changed);
    const edited: NamedKey = { ...key, name: wanted.name ?? key.name, manage, limits, version };
    return {
      change: {
        after: {
          firstProperties: before.firstProperties,
          named: before.named.map((other) => (other === key ? edited : other)),
        },
        key: { kind: 'limit', hash: key.hash, limits },
        account,
      },
      result: undefined,
      isIn: async ({ named }) =>
        named.some((other) => JSON.stringify(other) === JSON.stringify(edited)) &&
        (!account || (await hasLimit(deps, caller, target.keyId, account.after))),
    };
  });

/** Whether the account has the limit of a planned change. The keys do not have it, so two changes can look alike there. */
const hasLimit = async (
  deps: AccountKeyDependencies,
  caller: KeyCaller,
  keyId: string,
  { caps }: Account,
): Promise<boolean> => {
  const present = await readAccount(deps, caller);
  return present.caps.get(keyId)?.limitPicos === caps.get(keyId)?.limitPicos;
};

const planFirst = (before: KeyRing, wanted: KeyChange, version: number): Plan<undefined> => {
  refuseRestrictedFirst(wanted);
  const { name, manage } = before.firstProperties;
  const firstProperties: KeyProperties = { name: wanted.name ?? name, manage: wanted.manage ?? manage, version };
  return {
    change: { after: { firstProperties, named: before.named } },
    result: undefined,
    isIn: (ring) => JSON.stringify(ring.firstProperties) === JSON.stringify(firstProperties),
  };
};

/** KEY-8: revokes an API key and removes it from the list. Throws 403, 404 `not_found`, 409 `key_changed`, StoreError. */
export const deleteAccountKey = (deps: AccountKeyDependencies, caller: KeyCaller, target: KeyTarget): Promise<void> =>
  change(deps, caller, async (before) => {
    authorize(before, caller.actor, target.keyId);
    const key = findKey(before, target);
    if (key === 'first') {
      const hash = before.first?.hash ?? '';
      return {
        change: { after: before, key: { kind: 'revoke', hash } },
        result: undefined,
        isIn: ({ first }) => first?.hash === hash && first.isRevoked,
      };
    }
    const { hash, limits } = key;
    return {
      change: {
        after: { firstProperties: before.firstProperties, named: before.named.filter((other) => other !== key) },
        key: { kind: 'revoke', hash, hasCap: limits.cap !== undefined },
      },
      result: undefined,
      isIn: ({ named }) => !named.some(({ hash }) => hash === key.hash),
    };
  });

/** Throws 404 for an id that the account does not have, and 409 for another version. */
export const findKey = (ring: KeyRing, { keyId, version }: KeyTarget): NamedKey | 'first' => {
  const { first, firstProperties, named } = ring;
  const key =
    first && !first.isRevoked && keyIdOf(first.hash) === keyId
      ? 'first'
      : named.find(({ hash }) => keyIdOf(hash) === keyId);
  if (!key) throw new GatewayError('not_found', 'This account has no API key with this id. Check the id.');
  const present = key === 'first' ? firstProperties.version : key.version;
  if (version === undefined || version === present) return key;
  const message = `if-match: this API key is at version ${present} now. Read it again, then repeat the change.`;
  throw new GatewayError('key_changed', message, { param: 'if-match' });
};

/** Returns the present cap of a key. Undefined if it has none. */
const readCap = async (
  deps: AccountKeyDependencies,
  caller: KeyCaller,
  { hash, limits }: NamedKey,
): Promise<CapChange | undefined> => limits.cap && (await readAccount(deps, caller)).caps.get(keyIdOf(hash));

const readAccount = async (deps: AccountKeyDependencies, { accountId }: KeyCaller): Promise<Account> => {
  const account = await retryUntilDefinite(deps, () => deps.ledgerStore.readAccount(accountId));
  if (!account) throw new GatewayError('not_found', 'There is no such account.');
  return account;
};

interface PlannedCap {
  /** Restrictions of the key with its cap. */
  readonly limits: KeyLimits;
  /** Undefined if the caps of the account stay as they are. */
  readonly account: KeyRingChange['account'];
}

/** Plans the write of the account that has the cap. Throws 400 for a limit below what is spent and held. */
const planCap = async (
  deps: AccountKeyDependencies,
  caller: KeyCaller,
  key: { readonly keyId: string; readonly limits: KeyLimits },
  { limits, cap }: ChangedKey,
): Promise<PlannedCap> => {
  if (cap === 'same') return { limits: withoutUndefined({ ...limits, cap: key.limits.cap }), account: undefined };
  if (!cap && !key.limits.cap) return { limits: withoutUndefined(limits), account: undefined };
  const before = await readAccount(deps, caller);
  const nowMs = deps.clock.now();
  const refusal = refuseLimitBelowUse(before, key.keyId, cap, nowMs);
  if (refusal) throw refusal;
  const after = { ...changeCap(before, key.keyId, cap, nowMs), month: monthOfWrite(before, nowMs) };
  return {
    limits: withoutUndefined({ ...limits, cap: keyCapOf(after.caps, key.keyId) }),
    account: { before, after, nowMs },
  };
};

/** Stores do not keep undefined fields, and a repeated write is recognized by its fields. */
const withoutUndefined = ({ expiresAtMs, models, rate, cap }: KeyLimits): KeyLimits => ({
  ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  ...(models === undefined ? {} : { models }),
  ...(rate === undefined ? {} : { rate }),
  ...(cap === undefined ? {} : { cap }),
});
