import type { CapKind, KeyCap } from '../ledger/caps.ts';
import type { Account } from '../ledger/ledger.ts';
import { type Bucket, bucketOf } from '../limits/rate-limit.ts';
import type { StoredFactor } from '../pricing/estimate-factor.ts';
import type { KeyLabel, NewKey } from './keys.ts';

/** Maximum number of API keys of an account, with the first key. */
export const KEYS_MAX = 50;

export const capKinds = ['total', 'day', 'month'] as const satisfies readonly CapKind[];

/** Restrictions of an API key, which the gateway checks with every request. An absent field does not restrict. */
export interface KeyLimits {
  /** Unix milliseconds from which the API key is rejected. */
  readonly expiresAtMs?: number | undefined;
  /** Ids of the catalog entries that the API key can call. */
  readonly models?: readonly string[] | undefined;
  /** Requests per second. */
  readonly rate?: number | undefined;
  /** Cap, whose limit the account has (KEY-9). */
  readonly cap?: KeyCap | undefined;
}

/** Whether a release without restrictions must reject the API key. */
export const isRestricted = ({ expiresAtMs, models, rate, cap }: KeyLimits): boolean =>
  expiresAtMs !== undefined || models !== undefined || rate !== undefined || cap !== undefined;

/** Returns the bucket of an API key: its own rate with a burst of 1.5 times the rate, or that of every key (LIM-2). */
export const keyBucketOf = (every: Bucket, { rate }: Pick<KeyLimits, 'rate'>): Bucket => {
  if (rate === undefined) return every;
  const own = bucketOf(rate, Math.max(1, Math.floor(1.5 * rate)));
  return {
    intervalMicros: Math.max(own.intervalMicros, every.intervalMicros),
    burst: Math.min(own.burst, every.burst),
  };
};

/** Properties of an API key that its account can change and that no request checks. */
export interface KeyProperties {
  readonly name: string;
  /** Whether the API key can list, create, change and delete keys. */
  readonly manage: boolean;
  /** Version of the key ring that last changed the API key. 0 before the first change of the first key. */
  readonly version: number;
}

/** An API key of an account, in addition to its first key. */
export interface NamedKey extends KeyProperties {
  readonly hash: string;
  readonly label: KeyLabel;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly limits: KeyLimits;
}

/** Current first key of an account: the one that the bot and the mini app show and replace. */
export interface CurrentKey {
  readonly hash: string;
  readonly label: KeyLabel;
  /** Unix milliseconds. */
  readonly issuedAtMs: number;
  readonly isShown: boolean;
  readonly isRevoked: boolean;
}

/** All API keys of an account. */
export interface KeyRing {
  /** 0 before the first change. */
  readonly version: number;
  /** A first key that is revoked without a successor stays here. Undefined if the account never had one. */
  readonly first: CurrentKey | undefined;
  /** Properties of the first key, which stay when it is replaced. */
  readonly firstProperties: KeyProperties;
  /** Keys that were not deleted, in the order of their creation. */
  readonly named: readonly NamedKey[];
}

export const FIRST_KEY_PROPERTIES: KeyProperties = { name: 'First key', manage: true, version: 0 };

/** Write to the item of one API key. */
export type KeyWrite =
  | {
      readonly kind: 'add';
      readonly key: NewKey;
      readonly limits: KeyLimits;
      /** Estimate factor of the account (BILL-20). */
      readonly factor: StoredFactor | undefined;
    }
  | { readonly kind: 'limit'; readonly hash: string; readonly limits: KeyLimits }
  | {
      readonly kind: 'revoke';
      readonly hash: string;
      /** Whether the account has a cap for the key. The write removes it from any version of the account. */
      readonly hasCap?: boolean;
    };

/** Change of a key ring and of everything that must change with it. */
export interface KeyRingChange {
  readonly accountId: string;
  /** Nothing is written if the ring is no longer at this version, or if its first key is another or has been revoked. */
  readonly before: KeyRing;
  readonly after: Pick<KeyRing, 'firstProperties' | 'named'>;
  readonly key?: KeyWrite | undefined;
  /** Account with another cap. Nothing is written if it is no longer at the version of `before`. */
  readonly account?: { readonly before: Account; readonly after: Account; readonly nowMs: number } | undefined;
}

/** `blocked`: an API key was to be added to an account that is missing or blocked. */
export type KeyRingReply = 'written' | 'changed' | 'blocked';
