/** What may turn a request away with 429 and be the gateway's own doing (LIM-1, LIM-2, LIM-8, BILL-8). */
export const limitNames = ['address', 'key', 'chat', 'holds', 'drains'] as const;

export type LimitName = (typeof limitNames)[number];

/** The closed list of error codes a client can meet, each with its HTTP status and `error.type` (spec, section "Errors"; ERR-1). */
const rows = {
  missing_api_key: [401, 'authentication_error'],
  invalid_api_key: [401, 'authentication_error'],
  revoked_api_key: [401, 'authentication_error'],
  invalid_signature: [401, 'authentication_error'],
  insufficient_balance: [402, 'insufficient_balance'],
  account_blocked: [403, 'permission_error'],
  direct_access_refused: [403, 'permission_error'],
  not_found: [404, 'invalid_request_error'],
  expired: [404, 'invalid_request_error'],
  model_not_found: [404, 'invalid_request_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  invalid_request_error: [400, 'invalid_request_error'],
  invalid_messages: [400, 'invalid_request_error'],
  context_length_exceeded: [400, 'invalid_request_error'],
  invalid_image_format: [400, 'invalid_request_error'],
  content_filter: [400, 'invalid_request_error'],
  unsupported_parameter: [400, 'invalid_request_error'],
  idempotency_not_supported: [400, 'invalid_request_error'],
  invalid_fallback_model: [400, 'invalid_request_error'],
  request_budget_exceeded: [400, 'invalid_request_error'],
  invalid_size: [400, 'invalid_request_error'],
  idempotency_in_progress: [409, 'invalid_request_error'],
  idempotency_exhausted: [409, 'invalid_request_error'],
  key_already_rotated: [409, 'invalid_request_error'],
  credit_mismatch: [409, 'invalid_request_error'],
  video_not_ready: [409, 'invalid_request_error'],
  video_in_progress: [409, 'invalid_request_error'],
  payload_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  range_not_satisfiable: [416, 'invalid_request_error'],
  idempotency_key_mismatch: [422, 'invalid_request_error'],
  unprocessable_entity: [422, 'invalid_request_error'],
  rate_limit_exceeded: [429, 'rate_limit_error'],
  upstream_capacity: [429, 'rate_limit_error'],
  internal_error: [500, 'upstream_error'],
  upstream_error: [502, 'upstream_error'],
  service_unavailable: [503, 'service_unavailable'],
  model_unavailable: [503, 'service_unavailable'],
  upstream_timeout: [504, 'upstream_error'],
} as const satisfies Record<string, readonly [status: number, type: string]>;

export type ErrorCode = keyof typeof rows;

export const errorCodes = Object.keys(rows) as readonly ErrorCode[];

const vendorFailures: ReadonlySet<ErrorCode> = new Set(['upstream_capacity', 'upstream_error', 'upstream_timeout']);

interface ErrorDetails {
  /** JSON path, header or form field the client has to change; null when there is none. */
  readonly param?: string;
  /** Whole seconds, 1 to 300 (ERR-2). */
  readonly retryAfterSeconds?: number;
  /** Further response headers, such as `Allow`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the client's own SDK looks for beside the members that every error has. */
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
    [this.status, this.type] = rows[code];
    this.param = details.param ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.headers = details.headers ?? {};
    this.sdkDetails = details.sdkDetails;
    this.limit = details.limit;
    this.upstreamFailed = details.upstreamFailed ?? vendorFailures.has(code);
  }
}

/** The 400 that names a field and what to do about it (ERR-8). */
export const invalidRequest = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_request_error', message, { param });
