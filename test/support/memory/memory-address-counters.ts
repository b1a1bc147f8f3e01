import type { AddressCounters } from '../../../lambdas/core/limits/rate-limit.ts';
import { type Bucket, take } from '../../../lambdas/core/limits/rate-limit.ts';

/** In-memory fake of the shared rate limits of client IPs. */
export class MemoryAddressCounters implements AddressCounters {
  readonly #tats = new Map<string, number>();

  async take(address: string, bucket: Bucket, nowMicros: number): Promise<boolean> {
    const verdict = take(bucket, this.#tats.get(address) ?? 0, nowMicros);
    this.#tats.set(address, verdict.tatMicros);
    return verdict.allowed;
  }
}
