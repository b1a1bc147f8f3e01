import type { StoredAllowance } from '../ledger/allowance.ts';
import type { Bucket, NowMicros } from '../limits/rate-limit.ts';
import type { StoredFactor } from '../pricing/estimate-factor.ts';
import type { CurrentKey, KeyLimits, KeyRing, KeyRingChange, KeyRingReply } from './key-ring.ts';
import type { NewKey } from './keys.ts';

export interface KeyRecord extends KeyLimits {
  /** Derived from the hash by `keyIdOf`; no item stores it. */
  readonly keyId: string;
  readonly accountId: string;
  readonly status: 'active' | 'revoked';
  readonly blocked: boolean;
  readonly tatMicros: number;
  /** Estimate factor of the account (BILL-20). Undefined before its first overage. */
  readonly factor?: StoredFactor | undefined;
  /** Allowance of the account by its charges (BILL-21). Undefined before it is computed. */
  readonly allowance?: StoredAllowance | undefined;
}

/** `taken` spent one request of the key's bucket; `refused` includes the stored record. */
export type KeyReply =
  | { readonly kind: 'taken'; readonly key: KeyRecord }
  | { readonly kind: 'refused'; readonly key: KeyRecord }
  | { readonly kind: 'unknown' };

export interface KeyReplacement {
  readonly accountId: string;
  readonly oldHash: string;
  readonly key: NewKey;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/**
 * API keys. Each method is one call to the store: a consistent read, or one atomic conditional write. Throws StoreError
 * if the store does not confirm the call. Only `take` repeats a call after an error.
 */
export interface KeyStore {
  /**
   * Looks up the API key, checks for revocation and applies the rate limit in one conditional update: that of the key
   * if it has an own one, otherwise `bucket`. If this process has seen another rate of the key, a second update follows.
   * Never creates an item. Does not check the expiry and the models. A lost reply or a refusal by an old time is
   * followed by a further update with a fresh time, so one request can count twice.
   */
  take(hash: string, bucket: Bucket, now: NowMicros): Promise<KeyReply>;
  /** Reads the API key of a caller whose `take` failed. Takes nothing from the bucket. */
  read(hash: string): Promise<KeyRecord | undefined>;
  /** Reads the items of at most 50 API keys in one call. A missing key is not in the result. */
  readMany(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>>;
  /** Reads all API keys of an account (KEY-8). */
  ring(accountId: string): Promise<KeyRing>;
  /** Changes the API keys of an account, with the item of one key and the account's caps, in one transaction. */
  changeRing(change: KeyRingChange): Promise<KeyRingReply>;
  /** Returns undefined if the account never had a key. */
  currentKey(accountId: string): Promise<CurrentKey | undefined>;
  /** Stores the first API key of an account that has none. */
  putFirstKey(accountId: string, key: NewKey, atMs: number): Promise<'put' | 'has-key' | 'no-account'>;
  /**
   * Stores the new key with the estimate factor of the old one, and revokes the old key if it is still current (KEY-2).
   * `blocked`: nothing was written.
   */
  replaceKey(replacement: KeyReplacement): Promise<'replaced' | 'changed' | 'blocked'>;
  /** Revokes the key if it is still the current one, and does not replace it. */
  revokeKey(accountId: string, hash: string): Promise<'revoked' | 'changed'>;
  /** Records that the owner has seen the key. Writes nothing if the key is no longer current. */
  markShown(accountId: string, hash: string): Promise<void>;
  /**
   * Stores the estimate factor if it is above the present one of this key at `raised.atMs`, also on a revoked key.
   * Returns the key afterwards; undefined if it does not exist. Sends a second update if the stored factor has decayed.
   */
  raiseFactor(hash: string, raised: StoredFactor): Promise<KeyRecord | undefined>;
  /** Stores the allowance with the API key. Writes nothing if the key does not exist. */
  setAllowance(hash: string, allowance: StoredAllowance): Promise<void>;
}
