/**
 * A token bucket in one number: the theoretical arrival time of the next request that fits the steady rate.
 * All times are whole microseconds, so that both 10/s and 30/s are exact enough and stay below 2^53.
 */
export interface Bucket {
  readonly intervalMicros: number;
  readonly burst: number;
}

export const bucketOf = (perSecond: number, burst: number): Bucket => ({
  intervalMicros: Math.ceil(1_000_000 / perSecond),
  burst,
});

export interface Verdict {
  readonly allowed: boolean;
  /** The bucket's number after this request. */
  readonly tatMicros: number;
}

/** Latest arrival time at which one more request still fits. */
export const latestTatMicros = (bucket: Bucket, nowMicros: number): number =>
  nowMicros + (bucket.burst - 1) * bucket.intervalMicros;

export const take = (bucket: Bucket, tatMicros: number, nowMicros: number): Verdict =>
  tatMicros > latestTatMicros(bucket, nowMicros)
    ? { allowed: false, tatMicros }
    : { allowed: true, tatMicros: Math.max(tatMicros, nowMicros) + bucket.intervalMicros };

/** What a client may be told of its bucket (LIM-5). */
export interface BucketState {
  readonly limit: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

export const describe = (bucket: Bucket, tatMicros: number, nowMicros: number): BucketState => {
  const behindMicros = Math.max(0, tatMicros - nowMicros);
  return {
    limit: bucket.burst,
    remaining: Math.max(0, Math.floor(bucket.burst - behindMicros / bucket.intervalMicros)),
    resetSeconds: behindMicros / 1_000_000,
  };
};
