import type { ErrorCode } from './error-codes.ts';

export interface RetryAdvice {
  /** Default of `Retry-After`, in seconds. */
  readonly afterSeconds?: number;
  /** `false` sends `x-should-retry: false`, because a retry cannot succeed and SDKs would retry. */
  readonly shouldRetry?: false;
}

/**
 * Retry headers per error code (ERR-2); a code without a row has none. A caller of `GatewayError` replaces the seconds
 * if it has a better value, such as that of a circuit or a provider's own `Retry-After`.
 */
export const retryPolicy = {
  // Some clients retry a 401 for minutes.
  missing_api_key: { shouldRetry: false },
  invalid_api_key: { shouldRetry: false },
  revoked_api_key: { shouldRetry: false },
  expired_api_key: { shouldRetry: false },
  idempotency_in_progress: { afterSeconds: 5 },
  // SDKs retry a 409 immediately.
  idempotency_exhausted: { shouldRetry: false },
  key_changed: { shouldRetry: false },
  video_not_ready: { shouldRetry: false },
  video_in_progress: { shouldRetry: false },
  rate_limit_exceeded: { afterSeconds: 1 },
  service_unavailable: { afterSeconds: 30 },
} as const satisfies Partial<Record<ErrorCode, RetryAdvice>>;

const rows: Readonly<Partial<Record<ErrorCode, RetryAdvice>>> = retryPolicy;

export const retryAdviceOf = (code: ErrorCode): RetryAdvice => rows[code] ?? {};
