import type { ErrorCode } from '../errors/error-codes.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { CapOfKey } from '../ledger/caps.ts';
import type { AddressLimit, ProcessBuckets } from '../limits/rate-limit.ts';
import { type Bucket, type BucketState, describe, microsOf, secondsUntilAllowed } from '../limits/rate-limit.ts';
import { type EstimateFactor, factorAt } from '../pricing/estimate-factor.ts';
import { type StoreTime, within } from '../retry.ts';
import { type AllowanceDependencies, type DailyAllowance, dailyAllowance } from './daily-allowance.ts';
import { keyBucketOf } from './key-ring.ts';
import type { KeyRecord, KeyReply } from './key-store.ts';
import type { Peppers } from './keys.ts';
import { recentHashOf } from './keys.ts';
import { raiseFactor } from './raise-factor.ts';

export interface Admission {
  readonly accountId: string;
  /** Item of the API key after this request. */
  readonly key: KeyRecord;
  readonly rate: BucketState;
  readonly estimate: EstimateFactor;
  readonly allowance: DailyAllowance;
  /** Cap of the API key (KEY-9). Undefined without a cap. */
  readonly cap?: CapOfKey;
}

export interface AdmissionDependencies extends Peppers, AllowanceDependencies {
  readonly addressLimit: AddressLimit;
  readonly keyBucket: Bucket;
  readonly keyBuckets: ProcessBuckets;
}

const tooMany = (message: string): GatewayError =>
  new GatewayError('rate_limit_exceeded', message, { limit: 'address' });

const tooManyFromAddress = (): GatewayError =>
  tooMany('Too many requests from this client IP. Send fewer requests and retry.');

/** API key as a caller sent it, and the header that the route expects. */
export interface PresentedApiKey {
  readonly credential: string | undefined;
  /** Name of the header for the API key. */
  readonly param: string;
  readonly advice: string;
}

/** Admits a request to a route without an API key. Only the client IP is counted (AUTH-6). */
export const admitAddress = async (deps: AdmissionDependencies, address: string | undefined): Promise<void> => {
  if (!deps.addressLimit.takeLocal(address)) throw tooManyFromAddress();
  if (!(await deps.addressLimit.takeShared(address))) throw tooManyFromAddress();
};

/**
 * Admits a request with one parallel store trip: the bucket of the client IP and the API key item. Reports rejections
 * in a fixed order, whichever call returns first: client IP, API key, rate, account (GEN-8).
 */
export const admit = async (
  deps: AdmissionDependencies,
  address: string | undefined,
  offered: PresentedApiKey,
  storeTime?: StoreTime,
): Promise<Admission> => {
  const { credential, param } = offered;
  if (!deps.addressLimit.takeLocal(address)) throw tooManyFromAddress();
  const taking = credential === undefined ? undefined : settled(takeKey(deps, credential, storeTime));
  if (!(await deps.addressLimit.takeShared(address))) throw tooManyFromAddress();
  if (!credential || !taking) {
    throw unauthorized('missing_api_key', `${param}: no API key. ${offered.advice}`, param);
  }
  const key = await taking;
  if ('error' in key) throw key.error;
  return verdict(deps, key.value, param);
};

const unauthorized = (code: ErrorCode, message: string, param: string): GatewayError =>
  new GatewayError(code, message, { param });

const invalidKey = (param: string): GatewayError =>
  unauthorized('invalid_api_key', 'The API key is unknown. Use a key of this gateway and copy all of it.', param);

const verdict = (deps: AdmissionDependencies, { reply, hash }: TakenKey, param: string): Admission => {
  if (reply.kind === 'unknown') throw invalidKey(param);
  const { key } = reply;
  if (key.status === 'revoked') {
    throw unauthorized(
      'revoked_api_key',
      'This API key was replaced or revoked. Use another key of the account.',
      param,
    );
  }
  const nowMs = deps.clock.now();
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= nowMs) {
    const expiredAt = new Date(key.expiresAtMs).toISOString();
    throw unauthorized(
      'expired_api_key',
      `This API key expired at ${expiredAt}. Use another key of the account.`,
      param,
    );
  }
  const bucket = keyBucketOf(deps.keyBucket, key);
  const rate = describe(bucket, key.tatMicros, nowMs * 1_000);
  if (reply.kind === 'refused') {
    const retryAfterSeconds = secondsUntilAllowed(bucket, key.tatMicros, nowMs * 1_000);
    const details = { headers: rateHeaders(rate), limit: 'key', retryAfterSeconds } as const;
    throw new GatewayError('rate_limit_exceeded', tooManyWith(key), details);
  }
  if (key.blocked) {
    throw new GatewayError(
      'account_blocked',
      'This account is blocked for a violation of the terms. Contact the operator of this service.',
      {
        headers: rateHeaders(rate),
      },
    );
  }
  const { accountId, keyId, cap } = key;
  const estimate = {
    value: factorAt(key.factor, nowMs),
    raise: (factor: number) => raiseFactor(deps, { accountId, hash }, factor),
  };
  const allowance = dailyAllowance(deps, { accountId, hash }, key.allowance);
  return { accountId, key, rate, estimate, allowance, ...(cap && { cap: { ...cap, keyId } }) };
};

const tooManyWith = ({ rate }: KeyRecord): string =>
  rate === undefined
    ? 'Too many requests with this API key. Send fewer requests and retry.'
    : `Too many requests with this API key, which can send ${rate} per second. Send fewer requests and retry.`;

/** Headers of the rate limit (LIM-5). */
export const rateHeaders = (rate: BucketState): Record<string, string> => ({
  'x-ratelimit-limit-requests': String(rate.limit),
  'x-ratelimit-remaining-requests': String(rate.remaining),
  'x-ratelimit-reset-requests': `${rate.resetSeconds.toFixed(1)}s`,
});

interface TakenKey {
  readonly reply: KeyReply;
  /** Hash under which the key was looked up last. */
  readonly hash: string;
}

/** Tries the peppers in order until one matches. An API key under the first one costs one store trip (AUTH-5). */
const takeKey = async (
  deps: AdmissionDependencies,
  credential: string,
  storeTime: StoreTime | undefined,
): Promise<TakenKey> => {
  let hash: string | undefined;
  for (const pepper of [deps.pepper, ...deps.olderPeppers]) {
    hash = recentHashOf(pepper, credential);
    // A mistyped API key is rejected without a store trip.
    if (hash === undefined) break;
    const reply = await takeHash(deps, hash, storeTime);
    if (reply.kind !== 'unknown') return { reply, hash };
  }
  return { reply: { kind: 'unknown' }, hash: hash ?? '' };
};

/** Longest wait for the update of an API key item before the key is only read, in ms. */
const TAKE_LIMIT_MS = 1_500;

/**
 * Takes one request from the bucket of a key. If the update fails, reads the API key once and uses this process's own
 * bucket for the key (LIM-4).
 */
const takeHash = async (
  deps: AdmissionDependencies,
  hash: string,
  storeTime: StoreTime | undefined,
): Promise<KeyReply> => {
  const now = microsOf(deps.clock);
  try {
    const reply = await within(storeTime, () => deps.keys.take(hash, deps.keyBucket, now), TAKE_LIMIT_MS);
    return reply.kind === 'taken' ? withinOwnRate(deps, hash, reply.key) : reply;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
  try {
    const key = await within(storeTime, () => deps.keys.read(hash));
    if (!key) return { kind: 'unknown' };
    const local = deps.keyBuckets.take(hash, now(), keyBucketOf(deps.keyBucket, key));
    return { kind: local.allowed ? 'taken' : 'refused', key: { ...key, tatMicros: local.tatMicros } };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new GatewayError('service_unavailable', 'API keys cannot be checked now. Retry later.', {
      cause: error,
    });
  }
};

/** Bursts of a process's own bucket: replies of slow updates can arrive together. */
const OWN_BURSTS = 2;

/**
 * Limits what this process allows of the shared bucket. A process whose clock is ahead finds the shared bucket idle
 * whenever another process has used it, so that requests to both in turn would have no limit.
 */
const withinOwnRate = (deps: AdmissionDependencies, hash: string, key: KeyRecord): KeyReply => {
  const { intervalMicros, burst } = keyBucketOf(deps.keyBucket, key);
  const own = deps.keyBuckets.take(hash, deps.clock.now() * 1_000, { intervalMicros, burst: OWN_BURSTS * burst });
  return own.allowed ? { kind: 'taken', key } : { kind: 'refused', key: { ...key, tatMicros: own.tatMicros } };
};

type Settled<T> = { readonly value: T } | { readonly error: unknown };

/** Turns the failure of a call into a value, so that the caller decides when to throw it. */
const settled = <T>(pending: Promise<T>): Promise<Settled<T>> =>
  pending.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
