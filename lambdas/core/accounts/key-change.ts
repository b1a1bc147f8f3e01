import type { Catalog } from '../catalog/catalog.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import type { CapChange, CapKind } from '../ledger/caps.ts';
import type { KeyLimits, KeyRing, NamedKey } from './key-ring.ts';
import { keyIdOf } from './keys.ts';

/** Wanted properties of an API key. An absent field stays as it is, and null removes a restriction (KEY-8). */
export interface KeyChange {
  readonly name?: string | undefined;
  /** Cap in pico-USD. */
  readonly limitPicos?: bigint | null | undefined;
  readonly limitPeriod?: CapKind | null | undefined;
  /** Unix milliseconds. */
  readonly expiresAtMs?: number | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  /** Requests per second. */
  readonly rate?: number | null | undefined;
  /** Whether the API key has the right `manage`. */
  readonly manage?: boolean | undefined;
}

/** Wanted properties of a new API key. */
export interface NewKeyChange extends KeyChange {
  readonly name: string;
}

/** Bounds of a change. */
export interface ChangeRules {
  readonly catalog: Pick<Catalog, 'find' | 'explainMissing'>;
  /** Requests per second of a key without an own rate. */
  readonly rateMax: number;
  /** Own rate of the key that makes the change. Undefined: it has none, or the owner makes the change. */
  readonly actorRate: number | undefined;
  readonly nowMs: number;
}

/** Who makes a change: the id of an API key, or the owner in the bot, the mini app and the command line. */
export type Actor = { readonly keyId: string } | 'owner';

export const MISSING_RIGHT =
  'This API key does not have the right "manage". Use a key that has it, such as the first key of the account.';

const ITSELF = 'An API key cannot change or delete itself. Use another key with the right "manage".';

/**
 * Returns the own rate of the actor. Throws 403 `key_right_missing` if the API key does not have the right `manage`, or
 * if the change is about itself.
 */
export const authorize = (ring: KeyRing, actor: Actor, targetId?: string): number | undefined => {
  if (actor === 'owner') return undefined;
  const { keyId } = actor;
  if (!mayManage(ring, keyId)) throw new GatewayError('key_right_missing', MISSING_RIGHT);
  if (targetId === keyId) throw new GatewayError('key_right_missing', ITSELF);
  return namedKey(ring, keyId)?.limits.rate;
};

/** Whether an API key has the right `manage`. */
export const mayManage = (ring: KeyRing, keyId: string): boolean =>
  namedKey(ring, keyId)?.manage === true || isManagingFirst(ring, keyId);

const namedKey = ({ named }: KeyRing, keyId: string): NamedKey | undefined =>
  named.find(({ hash }) => keyIdOf(hash) === keyId);

const isManagingFirst = ({ first, firstProperties }: KeyRing, keyId: string): boolean =>
  first !== undefined && !first.isRevoked && firstProperties.manage && keyIdOf(first.hash) === keyId;

/** Restrictions and rights of a key after a change. */
export interface ChangedKey {
  readonly limits: Omit<KeyLimits, 'cap'>;
  /** `same`: the change does not touch the cap. Undefined: the key has none afterwards. */
  readonly cap: CapChange | 'same' | undefined;
  readonly manage: boolean;
}

/** Throws 400 by field (KEY-8). `cap`: the present cap. */
export const changeKey = (
  { limits, manage }: Pick<NamedKey, 'limits' | 'manage'>,
  cap: CapChange | undefined,
  change: KeyChange,
  rules: ChangeRules,
): ChangedKey => {
  const changed: ChangedKey = {
    limits: {
      expiresAtMs: change.expiresAtMs === undefined ? limits.expiresAtMs : futureOf(change.expiresAtMs, rules),
      models: change.models === undefined ? limits.models : modelsOf(change.models, rules),
      rate: change.rate === undefined ? limits.rate : rateOf(change.rate, rules),
    },
    cap: capOf(cap, change),
    manage: change.manage ?? manage,
  };
  const hasCap = changed.cap === 'same' ? limits.cap !== undefined : changed.cap !== undefined;
  if (changed.manage) refuseRestrictedManager(changed.limits, hasCap);
  return changed;
};

const futureOf = (expiresAtMs: number | null, { nowMs }: ChangeRules): number | undefined => {
  if (expiresAtMs === null) return undefined;
  if (expiresAtMs > nowMs) return expiresAtMs;
  throw invalidRequest('expires_at', 'expires_at: must be in the future.');
};

/** Returns the ids of the catalog entries, so that an alias also allows the entry that it names. */
const modelsOf = (models: readonly string[] | null, { catalog, nowMs }: ChangeRules): readonly string[] | undefined => {
  if (models === null) return undefined;
  const ids = models.map((id, index) => {
    const model = catalog.find(id, nowMs);
    if (!model) throw invalidRequest(`models[${index}]`, `models[${index}]: ${catalog.explainMissing(id, nowMs)}`);
    return model.id;
  });
  return [...new Set(ids)];
};

/** A key without an own rate would be faster than an actor with one, so it gets the rate of the actor. */
const rateOf = (rate: number | null, { rateMax, actorRate }: ChangeRules): number | undefined => {
  if (rate === null) return actorRate;
  if (rate > rateMax) {
    throw invalidRequest('requests_per_second', `requests_per_second: must be at most ${rateMax}.`);
  }
  if (actorRate !== undefined && rate > actorRate) {
    const message = `requests_per_second: must be at most ${actorRate}, the rate of the API key that sends this request.`;
    throw invalidRequest('requests_per_second', message);
  }
  return rate;
};

const NO_PERIOD =
  'limit_period: a cap needs a period. Send total, day or month, or send limit_usd null to remove the cap.';

const capOf = (present: CapChange | undefined, { limitPicos, limitPeriod }: KeyChange): ChangedKey['cap'] => {
  if (present && limitPeriod === null && limitPicos !== null) throw invalidRequest('limit_period', NO_PERIOD);
  if (limitPicos === undefined && !limitPeriod) return 'same';
  const limit = limitPicos === undefined ? present?.limitPicos : limitPicos;
  if (limit !== null && limit !== undefined) {
    return { limitPicos: limit, kind: limitPeriod ?? present?.kind ?? 'total' };
  }
  if (!limitPeriod) return undefined;
  throw invalidRequest('limit_period', 'limit_period: requires limit_usd. Send both, or neither.');
};

const refuseRestrictedManager = ({ models, expiresAtMs }: ChangedKey['limits'], hasCap: boolean): void => {
  const restrictions = [hasCap && 'limit_usd', models && 'models', expiresAtMs !== undefined && 'expires_at'];
  const field = restrictions.find(Boolean);
  if (!field) return;
  throw invalidRequest('rights', `rights: an API key with ${field} cannot have "manage". Remove one of them.`);
};

const NOT_FOR_FIRST = ['limitPicos', 'limitPeriod', 'expiresAtMs', 'models', 'rate'] as const;

const FIELD_NAMES = {
  limitPicos: 'limit_usd',
  limitPeriod: 'limit_period',
  expiresAtMs: 'expires_at',
  models: 'models',
  rate: 'requests_per_second',
} as const;

/** Throws 400 for a restriction of the first key, which the bot and the mini app must be able to replace at any time. */
export const refuseRestrictedFirst = (change: KeyChange): void => {
  const found = NOT_FOR_FIRST.find((name) => change[name] !== undefined && change[name] !== null);
  if (!found) return;
  const field = FIELD_NAMES[found];
  throw invalidRequest(field, `${field}: the first key cannot be restricted. Create another API key.`);
};
