import { type Bucket, take, type Verdict } from './gcra.ts';

const BUCKETS_MAX = 50_000;

/** The buckets of this process alone: what still limits when the shared store does not answer (LIM-4). */
export class ProcessBuckets {
  readonly #bucket: Bucket;
  readonly #tats = new Map<string, number>();

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  take(id: string, nowMicros: number): Verdict {
    const verdict = take(this.#bucket, this.#tats.get(id) ?? 0, nowMicros);
    // Setting anew moves the id to the end, so the oldest entries are the ones to forget.
    this.#tats.delete(id);
    this.#tats.set(id, verdict.tatMicros);
    if (this.#tats.size > BUCKETS_MAX) this.#forgetOldest();
    return verdict;
  }

  #forgetOldest(): void {
    const oldest = this.#tats.keys().next();
    if (!oldest.done) this.#tats.delete(oldest.value);
  }
}
