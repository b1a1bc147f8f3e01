import { RecentMap } from '../recent-map.ts';
import { type Bucket, take, type Verdict } from './gcra.ts';

const BUCKETS_MAX = 50_000;

/** The buckets of this process alone: what still limits when the shared store does not answer (LIM-4). */
export class ProcessBuckets {
  readonly #bucket: Bucket;
  readonly #tats = new RecentMap<number>(BUCKETS_MAX);

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  take(id: string, nowMicros: number): Verdict {
    const verdict = take(this.#bucket, this.#tats.get(id) ?? 0, nowMicros);
    this.#tats.set(id, verdict.tatMicros);
    return verdict;
  }
}
