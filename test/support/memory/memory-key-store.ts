import type { KeyRecord, KeyReply, KeyStore } from '../../../lambdas/core/accounts/key-store.ts';
import { type Bucket, take } from '../../../lambdas/core/limits/rate-limit.ts';

/** The keys table without a database: look-up, revocation and rate in one synchronous step. */
export class MemoryKeyStore implements KeyStore {
  readonly #keys = new Map<string, KeyRecord>();

  async take(hash: string, bucket: Bucket, nowMicros: number): Promise<KeyReply> {
    const key = this.#keys.get(hash);
    if (!key) return { kind: 'unknown' };
    const verdict = take(bucket, key.tatMicros, nowMicros);
    if (key.status !== 'active' || !verdict.allowed) return { kind: 'refused', key };
    const taken = { ...key, tatMicros: verdict.tatMicros };
    this.#keys.set(hash, taken);
    return { kind: 'taken', key: taken };
  }

  async read(hash: string): Promise<KeyRecord | undefined> {
    return this.#keys.get(hash);
  }

  /** An existing key is left as it is. */
  async put(hash: string, accountId: string): Promise<'created' | 'exists'> {
    if (this.#keys.has(hash)) return 'exists';
    this.#keys.set(hash, { accountId, status: 'active', blocked: false, tatMicros: 0 });
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

  /** How many keys there are: a look-up must never add one. */
  get size(): number {
    return this.#keys.size;
  }

  #change(hash: string, change: Partial<KeyRecord>): void {
    const key = this.#keys.get(hash);
    if (!key) throw new Error('there is no such key');
    this.#keys.set(hash, { ...key, ...change });
  }
}
