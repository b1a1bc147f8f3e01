import type { Bucket } from '../limits/rate-limit.ts';

export interface KeyRecord {
  readonly accountId: string;
  readonly status: 'active' | 'revoked';
  readonly blocked: boolean;
  readonly tatMicros: number;
}

/** `taken` spent one request of the key's bucket; `refused` shows the item as it stands. */
export type KeyReply =
  | { readonly kind: 'taken'; readonly key: KeyRecord }
  | { readonly kind: 'refused'; readonly key: KeyRecord }
  | { readonly kind: 'unknown' };

export interface KeyStore {
  /**
   * Look-up, revocation check and rate limit in one conditional update, which never creates an item.
   * Throws StoreError.
   */
  take(hash: string, bucket: Bucket, nowMicros: number): Promise<KeyReply>;
  /** One consistent read, for when the update cannot be had. Throws StoreError. */
  read(hash: string): Promise<KeyRecord | undefined>;
}
