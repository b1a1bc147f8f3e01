import {
  type AddressCounters,
  type Bucket,
  type NowMicros,
  take,
  takeAtReply,
} from '../../../lambdas/core/limits/rate-limit.ts';

/** In-memory fake of the shared rate limits of client IPs. */
export class MemoryAddressCounters implements AddressCounters {
  readonly #tats = new Map<string, number>();

  take(address: string, bucket: Bucket, now: NowMicros): Promise<boolean> {
    return takeAtReply(bucket, now, async () => {
      const { allowed, tatMicros } = take(bucket, this.#tats.get(address) ?? 0, now());
      this.#tats.set(address, tatMicros);
      return { result: allowed, refusedByMicros: allowed ? undefined : tatMicros };
    });
  }
}
