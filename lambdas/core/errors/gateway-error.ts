import { type ErrorCode, errorRows } from './error-codes.ts';
import { retryAdviceOf } from './retry-policy.ts';

/** Limits of the gateway that reject a request with 429 (LIM-1, LIM-2, LIM-8, BILL-8). */
export const limitNames = ['address', 'key', 'chat', 'holds', 'drains'] as const;

export type LimitName = (typeof limitNames)[number];

const vendorFailures: ReadonlySet<ErrorCode> = new Set(['upstream_capacity', 'upstream_error', 'upstream_timeout']);

interface ErrorDetails {
  /** JSON path, header or form field the client has to change; null when there is none. */
  readonly param?: string;
  /** Value of `Retry-After` in whole seconds, 1 to 300 (ERR-2). Replaces the default of the code. */
  readonly retryAfterSeconds?: number;
  /** Omits the retry headers that the code has by default. */
  readonly retry?: 'none';
  /** Further response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields that the client's SDK expects in addition to those of every error. */
  readonly sdkDetails?: Readonly<Record<string, unknown>>;
  /** Set where the vendor failed and the code alone does not say so: a circuit counts it (ERR-9). */
  readonly upstreamFailed?: boolean;
  /** Which limit a `rate_limit_exceeded` is about. Counted, never shown to a client. */
  readonly limit?: LimitName;
  /** What went wrong underneath. Logged by name, never shown to a client. */
  readonly cause?: unknown;
}

/** An answer other than success that the gateway gives on purpose. Anything else that is thrown is a bug and becomes a 500. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly sdkDetails: Readonly<Record<string, unknown>> | undefined;
  readonly limit: LimitName | undefined;
  /** The vendor failed, as a circuit counts it: no connection, a 5xx, no answer in time, no capacity. */
  readonly upstreamFailed: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    [this.status, this.type] = errorRows[code];
    this.param = details.param ?? null;
    const { afterSeconds, shouldRetry } = details.retry === 'none' ? {} : retryAdviceOf(code);
    this.retryAfterSeconds = details.retryAfterSeconds ?? afterSeconds;
    this.headers = { ...(shouldRetry === false && { 'x-should-retry': 'false' }), ...details.headers };
    this.sdkDetails = details.sdkDetails;
    this.limit = details.limit;
    this.upstreamFailed = details.upstreamFailed ?? vendorFailures.has(code);
  }
}

/** The 400 that names a field and what to do about it (ERR-8). */
export const invalidRequest = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request_error', message, { param });
