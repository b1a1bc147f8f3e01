import { type ErrorCode, errorRows } from './error-codes.ts';
import { retryAdviceOf } from './retry-policy.ts';

/** Limits of the gateway that reject a request with 429 (LIM-1, LIM-2, LIM-8, BILL-21). */
export const limitNames = ['address', 'key', 'chat', 'holds', 'uncollected', 'probation'] as const;

export type LimitName = (typeof limitNames)[number];

const vendorFailures: ReadonlySet<ErrorCode> = new Set(['upstream_capacity', 'upstream_error', 'upstream_timeout']);

export interface ErrorDetails {
  /** JSON path, header or form field that the client must change. Undefined becomes null in the error. */
  readonly param?: string;
  /** Value of `Retry-After` in whole seconds, 1 to 300 (ERR-2). Replaces the default of the code. */
  readonly retryAfterSeconds?: number;
  /** Omits the retry headers that the code has by default. */
  readonly retry?: 'none';
  /** HTTP status that a client of the provider's own protocol knows. Replaces the status of the code. */
  readonly status?: number | undefined;
  /** Further response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields that the client's SDK expects in addition to those of every error. */
  readonly sdkDetails?: Readonly<Record<string, unknown>>;
  /** Whether the provider failed although the code does not show it. The circuit counts it (ERR-9). */
  readonly upstreamFailed?: boolean;
  /**
   * Whether the circuit ignores the error: it concerns one of several credentials (ERR-10), or a client or this machine
   * can cause it (FALL-1).
   */
  readonly ignoredByCircuit?: boolean;
  /** Whether the provider served the request and a client can provoke the error. The cost uses the allowance (BILL-21). */
  readonly usesAllowance?: boolean;
  /** Limit that a `rate_limit_exceeded` refers to. Counted in metrics, never shown to a client. */
  readonly limit?: LimitName;
  /** Underlying error. Logged by name, never shown to a client. */
  readonly cause?: unknown;
}

/** Error that the gateway returns on purpose. Any other thrown value is a bug and becomes a 500. */
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
  /**
   * Whether the circuit counts the error as a failure of the provider: no connection, a 5xx, a timeout, no capacity.
   */
  readonly upstreamFailed: boolean;
  readonly ignoredByCircuit: boolean;
  readonly usesAllowance: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    const [status, type] = errorRows[code];
    this.status = details.status ?? status;
    this.type = type;
    this.param = details.param ?? null;
    const { afterSeconds, shouldRetry } = details.retry === 'none' ? {} : retryAdviceOf(code);
    this.retryAfterSeconds = details.retryAfterSeconds ?? afterSeconds;
    this.headers = { ...(shouldRetry === false && { 'x-should-retry': 'false' }), ...details.headers };
    this.sdkDetails = details.sdkDetails;
    this.limit = details.limit;
    this.upstreamFailed = details.upstreamFailed ?? vendorFailures.has(code);
    this.ignoredByCircuit = details.ignoredByCircuit ?? false;
    this.usesAllowance = details.usesAllowance ?? false;
  }
}

/** Returns a 400 that names the field and the fix (ERR-8). */
export const invalidRequest = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request_error', message, { param });

/** Returns the thrown GatewayError, or that of a bug. It does not say that nothing was charged. */
export const asGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'The gateway failed. Check GET /api/usage before you retry.', {
        cause: thrown,
      });
