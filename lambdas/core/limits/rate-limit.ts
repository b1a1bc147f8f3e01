import { type Clock, isAhead } from '../clock.ts';
import { StoreError } from '../errors/store-error.ts';
import { RecentMap } from '../recent-map.ts';
import { limited } from '../retry.ts';

/**
 * A token bucket in one number: the theoretical arrival time of the next request that fits the steady rate. All times
 * are whole microseconds, so that rates such as 10/s and 30/s are exact enough and values stay below 2^53.
 */
export interface Bucket {
  readonly intervalMicros: number;
  readonly burst: number;
}

export const bucketOf = (perSecond: number, burst: number): Bucket => ({
  intervalMicros: Math.ceil(1_000_000 / perSecond),
  burst,
});

interface Verdict {
  readonly allowed: boolean;
  /** Theoretical arrival time after this request. A refusal changes it too if it was further ahead than possible. */
  readonly tatMicros: number;
}

/** Returns the largest theoretical arrival time with which a bucket still allows a request now. */
export const latestTatMicros = (bucket: Bucket, nowMicros: number): number =>
  nowMicros + (bucket.burst - 1) * bucket.intervalMicros;

/** Returns the theoretical arrival time after a whole burst now. Only a clock that is ahead stores a later one. */
export const furthestTatMicros = (bucket: Bucket, nowMicros: number): number =>
  nowMicros + bucket.burst * bucket.intervalMicros;

/** Wait that clients get anyway, because `Retry-After` is in whole seconds. */
const WAIT_MICROS = 1_000_000;

/**
 * Whether a theoretical arrival time lets the next request wait at most one interval or one second, whichever is longer.
 * So clocks that differ by less than a second still share one rate.
 */
export const isPossible = (bucket: Bucket, tatMicros: number, nowMicros: number): boolean =>
  tatMicros - latestTatMicros(bucket, nowMicros) <= Math.max(bucket.intervalMicros, WAIT_MICROS);

const toPossible = (bucket: Bucket, tatMicros: number, nowMicros: number): number =>
  isPossible(bucket, tatMicros, nowMicros) ? tatMicros : furthestTatMicros(bucket, nowMicros);

/**
 * A time that only a clock ahead of this one can have stored is replaced by the furthest one. So the next request is
 * allowed after one interval, however far ahead that clock was.
 */
export const take = (bucket: Bucket, tatMicros: number, nowMicros: number): Verdict => {
  const possibleMicros = toPossible(bucket, tatMicros, nowMicros);
  return possibleMicros > latestTatMicros(bucket, nowMicros)
    ? { allowed: false, tatMicros: possibleMicros }
    : { allowed: true, tatMicros: Math.max(possibleMicros, nowMicros) + bucket.intervalMicros };
};

/** Source of the present in whole microseconds since 1970. A store calls it for each write that it sends. */
export type NowMicros = () => number;

export const microsOf =
  (clock: Clock): NowMicros =>
  () =>
    clock.now() * 1_000;

/** Result of one write to a shared bucket. */
export interface BucketAttempt<Result> {
  readonly result: Result;
  /** Theoretical arrival time that refused the request; undefined if the time did not decide the result. */
  readonly refusedByMicros?: number | undefined;
  /** Bucket that refused the request, if it is another than that of the call. */
  readonly bucket?: Bucket;
}

const ATTEMPTS_MAX = 5;

/**
 * Takes one request from a shared bucket. A write can land long after its time was read, so a refusal is final only if
 * it still holds when its reply is here, and by a time that the bucket can have. Otherwise a further write with a fresh
 * time decides. Throws a StoreError of the kind `conflict` if other requests changed the bucket during every attempt.
 */
export const takeAtReply = async <Result>(
  bucket: Bucket,
  now: NowMicros,
  attempt: () => Promise<BucketAttempt<Result>>,
): Promise<Result> => {
  for (let tried = 0; tried < ATTEMPTS_MAX; tried += 1) {
    const { result, refusedByMicros, bucket: own = bucket } = await attempt();
    if (refusedByMicros === undefined || isFull(own, refusedByMicros, now())) return result;
  }
  throw new StoreError('conflict', 'the bucket changed during every write');
};

const isFull = (bucket: Bucket, tatMicros: number, nowMicros: number): boolean =>
  tatMicros > latestTatMicros(bucket, nowMicros) && isPossible(bucket, tatMicros, nowMicros);

/** State of a client's bucket for the response headers (LIM-5). */
export interface BucketState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export const describe = (bucket: Bucket, tatMicros: number, nowMicros: number): BucketState => {
  const behindMicros = Math.max(0, toPossible(bucket, tatMicros, nowMicros) - nowMicros);
  return {
    limit: bucket.burst,
    remaining: Math.max(0, Math.floor(bucket.burst - behindMicros / bucket.intervalMicros)),
    resetSeconds: behindMicros / 1_000_000,
  };
};

/** Returns the whole seconds until a bucket allows a request again, rounded up and at least 1 (LIM-3). */
export const secondsUntilAllowed = (bucket: Bucket, tatMicros: number, nowMicros: number): number => {
  const waitMicros = toPossible(bucket, tatMicros, nowMicros) - latestTatMicros(bucket, nowMicros);
  return Math.max(1, Math.ceil(waitMicros / 1_000_000));
};

const BUCKETS_MAX = 50_000;

/**
 * Buckets of this process. They limit requests if the shared store does not respond (LIM-4), and what one process allows
 * while the clocks of processes differ.
 */
export class ProcessBuckets {
  readonly #bucket: Bucket;
  readonly #tats = new RecentMap<number>(BUCKETS_MAX);

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** `bucket`: the bucket of this id, if it is another than that of the others. */
  take(id: string, nowMicros: number, bucket = this.#bucket): Verdict {
    const tatMicros = this.#tats.get(id) ?? 0;
    // The clock of this process was set back. The shared bucket already makes the client wait for an interval.
    const isAheadOfBucket = tatMicros > furthestTatMicros(bucket, nowMicros);
    const verdict = take(bucket, isAheadOfBucket ? latestTatMicros(bucket, nowMicros) : tatMicros, nowMicros);
    this.#tats.set(id, verdict.tatMicros);
    return verdict;
  }
}

/** Shared buckets of client IPs. Throws StoreError; `throttled` means that this item receives too many writes. */
export interface AddressCounters {
  take(address: string, bucket: Bucket, now: NowMicros): Promise<boolean>;
}

const ABANDONED_AFTER_MS = 50;

const FAILURES_BEFORE_PAUSE = 3;

const PAUSE_MS = 5_000;

/**
 * Checks the bucket of the process first, then the shared bucket for at most 50 ms (LIM-1, LIM-4). After three
 * consecutive failures it skips the shared bucket for 5 s, and only the bucket of the process limits requests.
 */
export class AddressLimit {
  readonly #bucket: Bucket;
  readonly #counters: AddressCounters;
  readonly #clock: Clock;
  readonly #local: ProcessBuckets;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(bucket: Bucket, counters: AddressCounters, clock: Clock) {
    this.#bucket = bucket;
    this.#counters = counters;
    this.#clock = clock;
    this.#local = new ProcessBuckets(bucket);
  }

  /**
   * Returns false if the bucket of this process is empty; then the store is not called. A missing address has no limit,
   * because one bucket for all clients would reject strangers (LIM-7).
   */
  takeLocal(address: string | undefined): boolean {
    if (address === undefined) return true;
    return this.#local.take(address, this.#clock.now() * 1_000).allowed;
  }

  async takeShared(address: string | undefined): Promise<boolean> {
    if (address === undefined) return true;
    if (isAhead(this.#pausedUntilMs, this.#clock.now(), PAUSE_MS)) return true;
    try {
      const taking = this.#counters.take(address, this.#bucket, microsOf(this.#clock));
      const allowed = await limited(this.#clock, ABANDONED_AFTER_MS, taking);
      this.#failures = 0;
      return allowed;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind === 'throttled') return false;
      this.#failures += 1;
      if (this.#failures >= FAILURES_BEFORE_PAUSE) {
        this.#failures = 0;
        this.#pausedUntilMs = this.#clock.now() + PAUSE_MS;
      }
      return true;
    }
  }
}
