/** Strategy of an SDK client. `Token` counts the attempts of one call. */
interface RetryStrategy<Token = object> {
  acquireInitialRetryToken(scope: string): Promise<Token>;
  /** Waits until the next attempt may start. Throws if there must not be one. */
  refreshRetryTokenForRetry(
    token: Token,
    failure: { readonly error: unknown; readonly errorType: RetryType },
  ): Promise<Token>;
  recordSuccess(token: Token): void;
}

/** The part of an SDK client's configuration that decides about retries. */
export interface Retries {
  maxAttempts(): Promise<number>;
  retryStrategy(): Promise<object>;
}

export type RetryType = 'THROTTLING' | 'TRANSIENT' | 'SERVER_ERROR' | 'CLIENT_ERROR';

/** A client that allows one attempt makes one, whatever happens. The strategy of the client decides about others. */
export const withRetries = async <Result>(
  retries: Retries,
  attempt: (tried: number, max: number) => Promise<Result>,
): Promise<Result> => {
  const max = await retries.maxAttempts();
  if (max <= 1) return attempt(1, 1);
  const strategy = await retries.retryStrategy();
  if (!isStrategy(strategy)) throw new TypeError('the retry strategy of the client has an unknown form');
  let token = await strategy.acquireInitialRetryToken('');
  let outcome: unknown;
  for (let tried = 1; ; tried += 1) {
    try {
      const result = await attempt(tried, max);
      strategy.recordSuccess(token);
      return result;
    } catch (error) {
      const errorType = retryTypeOf(error);
      // A rejected repeat does not mean that an earlier attempt without a reply wrote nothing.
      if (errorType !== 'THROTTLING') outcome = error;
      outcome ??= error;
      const next = await strategy.refreshRetryTokenForRetry(token, { error, errorType }).catch(() => undefined);
      if (!next) throw outcome;
      token = next;
    }
  }
};

const isStrategy = (strategy: object): strategy is RetryStrategy =>
  'acquireInitialRetryToken' in strategy && 'refreshRetryTokenForRetry' in strategy && 'recordSuccess' in strategy;

/** Names and codes of @smithy/core/retry, of which the table and Node.js use these. */
const throttlings: ReadonlySet<unknown> = new Set([
  'BandwidthLimitExceeded',
  'EC2ThrottledException',
  'LimitExceededException',
  'PriorRequestNotComplete',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);
const timeouts: ReadonlySet<unknown> = new Set(['TimeoutError', 'RequestTimeout', 'RequestTimeoutException']);
const brokenConnections: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const passingStatuses: ReadonlySet<unknown> = new Set([500, 502, 503, 504]);

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly $retryable?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
}

/** Classifies an error as the SDK does. Its strategies repeat the first two types. */
export const retryTypeOf = (error: unknown): RetryType => {
  if (!(error instanceof Error)) return 'CLIENT_ERROR';
  const failure: Failure = error;
  const status = failure.$metadata?.httpStatusCode;
  if (status === 429 || throttlings.has(failure.name)) return 'THROTTLING';
  if (isTransient(failure)) return 'TRANSIENT';
  return status !== undefined && status >= 500 ? 'SERVER_ERROR' : 'CLIENT_ERROR';
};

const isTransient = (failure: Failure): boolean =>
  failure.name !== 'AbortError' &&
  (failure.$retryable !== undefined ||
    failure.$metadata?.clockSkewCorrected === true ||
    (failure.name === 'InvalidSignatureException' && failure.message.includes('Signature expired')) ||
    timeouts.has(failure.name) ||
    brokenConnections.has(failure.code) ||
    passingStatuses.has(failure.$metadata?.httpStatusCode) ||
    (failure.cause instanceof Error && isTransient(failure.cause)));
