import {
  type CurrentKey,
  FIRST_KEY_PROPERTIES,
  type KeyLimits,
  type KeyRing,
  type KeyRingChange,
  type KeyRingReply,
  keyBucketOf,
} from '../../../lambdas/core/accounts/key-ring.ts';
import type { KeyRecord, KeyReplacement, KeyReply, KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import { keyIdOf, type NewKey } from '../../../lambdas/core/accounts/keys.ts';
import type { StoredAllowance } from '../../../lambdas/core/ledger/allowance.ts';
import {
  type Bucket,
  type BucketAttempt,
  type NowMicros,
  take,
  takeAtReply,
} from '../../../lambdas/core/limits/rate-limit.ts';
import { factorAt, type StoredFactor } from '../../../lambdas/core/pricing/estimate-factor.ts';
import type { MemoryLedgerStore } from './memory-ledger-store.ts';

const NO_LIMITS: KeyLimits = { expiresAtMs: undefined, models: undefined, rate: undefined, cap: undefined };

/**
 * In-memory fake of the API key store. Every write is one synchronous step. The ledger reports whether an account is
 * active.
 */
export class MemoryKeyStore implements KeyStore {
  readonly #ledger: MemoryLedgerStore;
  readonly #keys = new Map<string, KeyRecord>();
  readonly #current = new Map<string, CurrentKey>();
  readonly #rings = new Map<string, Omit<KeyRing, 'first'>>();

  constructor(ledger: MemoryLedgerStore) {
    this.#ledger = ledger;
  }

  take(hash: string, bucket: Bucket, now: NowMicros): Promise<KeyReply> {
    return takeAtReply(bucket, now, async () => this.#take(hash, bucket, now()));
  }

  #take(hash: string, bucket: Bucket, nowMicros: number): BucketAttempt<KeyReply> {
    const key = this.#keys.get(hash);
    if (!key) return { result: { kind: 'unknown' } };
    if (key.status !== 'active') return { result: { kind: 'refused', key } };
    const own = keyBucketOf(bucket, key);
    const { allowed, tatMicros } = take(own, key.tatMicros, nowMicros);
    const after = { ...key, tatMicros };
    this.#keys.set(hash, after);
    return allowed
      ? { result: { kind: 'taken', key: after } }
      : { result: { kind: 'refused', key: after }, refusedByMicros: tatMicros, bucket: own };
  }

  async read(hash: string): Promise<KeyRecord | undefined> {
    return this.#keys.get(hash);
  }

  async readMany(hashes: readonly string[]): Promise<ReadonlyMap<string, KeyRecord>> {
    const found = new Map<string, KeyRecord>();
    for (const hash of hashes) {
      const key = this.#keys.get(hash);
      if (key) found.set(hash, key);
    }
    return found;
  }

  async ring(accountId: string): Promise<KeyRing> {
    return this.ringNow(accountId);
  }

  ringNow(accountId: string): KeyRing {
    const ring = this.#rings.get(accountId) ?? { version: 0, firstProperties: FIRST_KEY_PROPERTIES, named: [] };
    return { ...ring, first: this.#current.get(accountId) };
  }

  async changeRing(change: KeyRingChange): Promise<KeyRingReply> {
    const { accountId, before, after, key, account } = change;
    if (key?.kind === 'add' && !this.#isActive(accountId)) return 'blocked';
    if (!this.#isUnchanged(change)) return 'changed';
    if (account && !this.#ledger.replaceAccount(account.before, account.after, account.nowMs)) return 'changed';
    this.#rings.set(accountId, {
      version: before.version + 1,
      firstProperties: after.firstProperties,
      named: after.named,
    });
    if (key?.kind === 'add') {
      void this.put(key.key.hash, accountId);
      this.#change(key.key.hash, { factor: key.factor, ...key.limits });
    }
    if (key?.kind === 'limit') this.#change(key.hash, { ...NO_LIMITS, ...key.limits });
    if (key?.kind === 'revoke') {
      void this.revoke(key.hash);
      if (key.hasCap) this.#ledger.setCap(accountId, keyIdOf(key.hash), undefined, 0);
      if (before.first?.hash === key.hash) this.#current.set(accountId, { ...before.first, isRevoked: true });
    }
    return 'written';
  }

  #isUnchanged({ accountId, before, key }: KeyRingChange): boolean {
    const { version, first } = this.ringNow(accountId);
    if (version !== before.version) return false;
    if (first?.hash !== before.first?.hash || first?.isRevoked !== before.first?.isRevoked) return false;
    if (key?.kind === 'add') return !this.has(key.key.hash);
    return key?.kind !== 'limit' || this.#keys.get(key.hash)?.status === 'active';
  }

  async currentKey(accountId: string): Promise<CurrentKey | undefined> {
    return this.#current.get(accountId);
  }

  async putFirstKey(accountId: string, key: NewKey, atMs: number): Promise<'put' | 'has-key' | 'no-account'> {
    if (!this.#isActive(accountId)) return 'no-account';
    if (this.#current.has(accountId) || this.has(key.hash)) return 'has-key';
    this.makeCurrent(accountId, key, atMs);
    return 'put';
  }

  async replaceKey({ accountId, oldHash, key, atMs }: KeyReplacement): Promise<'replaced' | 'changed' | 'blocked'> {
    if (!this.#isActive(accountId)) return 'blocked';
    if (this.#current.get(accountId)?.hash !== oldHash || this.has(key.hash)) return 'changed';
    void this.revoke(oldHash);
    this.makeCurrent(accountId, key, atMs);
    this.#change(key.hash, { factor: this.#keys.get(oldHash)?.factor });
    return 'replaced';
  }

  async revokeKey(accountId: string, hash: string): Promise<'revoked' | 'changed'> {
    const current = this.#current.get(accountId);
    if (current?.hash !== hash) return 'changed';
    void this.revoke(hash);
    this.#current.set(accountId, { ...current, isRevoked: true });
    return 'revoked';
  }

  async markShown(accountId: string, hash: string): Promise<void> {
    const current = this.#current.get(accountId);
    if (current?.hash === hash) this.#current.set(accountId, { ...current, isShown: true });
  }

  async raiseFactor(hash: string, raised: StoredFactor): Promise<KeyRecord | undefined> {
    const key = this.#keys.get(hash);
    if (key && factorAt(key.factor, raised.atMs) < raised.factor) this.#change(hash, { factor: raised });
    return this.#keys.get(hash);
  }

  async setAllowance(hash: string, allowance: StoredAllowance): Promise<void> {
    if (this.#keys.has(hash)) this.#change(hash, { allowance });
  }

  /** Adds the API key and makes it the account's current one. */
  makeCurrent(accountId: string, { hash, label, isShown }: NewKey, issuedAtMs: number): void {
    void this.put(hash, accountId);
    this.#current.set(accountId, { hash, label, issuedAtMs, isShown, isRevoked: false });
  }

  currentHash(accountId: string): string | undefined {
    return this.#current.get(accountId)?.hash;
  }

  /** Adds an API key. Leaves an existing one unchanged. */
  async put(hash: string, accountId: string, limits: KeyLimits = {}): Promise<'created' | 'exists'> {
    if (this.#keys.has(hash)) return 'exists';
    const fresh = { status: 'active', blocked: false, tatMicros: 0 } as const;
    this.#keys.set(hash, { keyId: keyIdOf(hash), accountId, ...fresh, ...limits });
    return 'created';
  }

  async revoke(hash: string): Promise<void> {
    this.#change(hash, { status: 'revoked' });
  }

  async setBlocked(hash: string, blocked: boolean): Promise<void> {
    this.#change(hash, { blocked });
  }

  has(hash: string): boolean {
    return this.#keys.has(hash);
  }

  /** Number of API keys. A lookup must not add one. */
  get size(): number {
    return this.#keys.size;
  }

  #isActive(accountId: string): boolean {
    return this.#ledger.statusOf(accountId) === 'active';
  }

  #change(hash: string, change: Partial<KeyRecord>): void {
    const key = this.#keys.get(hash);
    if (!key) throw new Error('there is no such key');
    this.#keys.set(hash, { ...key, ...change });
  }
}
