import { GatewayError } from '../core/errors/gateway-error.ts';
import type { Summary } from './exchange.ts';

/**
 * Canonical name nearest to an HTTP status: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
 */
const googleStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export const googleStatusOf = ({ status }: GatewayError): string => googleStatuses[status] ?? 'INVALID_ARGUMENT';

/**
 * https://google.aip.dev/193. Google's SDKs read the numeric code; the details carry the gateway's own code and field.
 * `type` and `param` are those of every error, for clients of several formats.
 */
const toGoogleError = (error: GatewayError): object => {
  const { message, status, type, code, param, retryAfterSeconds } = error;
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: code,
      domain: 'model-gateway',
      metadata: param === null ? {} : { param },
    },
    ...(retryAfterSeconds === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }]),
  ];
  return { code: status, message, status: googleStatusOf(error), type, param, details };
};

/**
 * Error type by HTTP status: https://platform.claude.com/docs/en/api/errors. Any other status has the type
 * `invalid_request_error` below 500 and `api_error` from 500.
 */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

export const messagesTypeOf = ({ status, code }: GatewayError): string => {
  // `overloaded_error` means "retry later". The other code with this status requires another model.
  if (code === 'service_unavailable') return 'overloaded_error';
  return messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
};

/** Clients of OpenAI's formats, such as LiteLLM, recognize a prompt that is too long by these words. */
const inClientWords = ({ code, message }: GatewayError): string =>
  code === 'context_length_exceeded' && !/maximum context length/i.test(message)
    ? `This model's maximum context length is exceeded. ${message}`
    : message;

/** Returns the body of an error in the caller's format (GEN-3). */
export const toErrorBody = (error: GatewayError, format: ClientFormat, requestId: string): object => {
  const { message, code, param } = error;
  switch (format) {
    case 'plain':
      return { error: { message: inClientWords(error), type: error.type, code, param } };
    case 'messages': {
      const details = error.sdkDetails && { details: error.sdkDetails };
      // The SDK prints the whole body, so the members are in the provider's order.
      const members = { type: messagesTypeOf(error), message, code, param, ...details };
      return { type: 'error', error: members, request_id: requestId };
    }
    case 'generate_content':
      return { error: toGoogleError(error) };
  }
};

/** Converts a thrown value to the error for the client. A bug becomes a 500 without its message. */
export const toGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'The gateway failed. Nothing was charged. Retry the request.', {
        cause: thrown,
      });

export const errorHeaders = (error: GatewayError): Record<string, string> => ({
  ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  ...error.headers,
});

/** Format of errors and model lists that the client's SDK can parse. */
export type ClientFormat = 'plain' | 'messages' | 'generate_content';

type Headers = Readonly<Record<string, string | undefined>>;

/** Google's SDKs since 3.0 call these actions under `/v1` instead of `/v1beta`. */
const googleAction = /^\/v1\/models\/[^/]+(?::|%3A)[a-z]+$/i;

const sends = (headers: Headers, names: readonly string[]): boolean =>
  names.some((name) => headers[name] !== undefined);

/**
 * Returns the format by headers that only one kind of client sends. The lists of models have the same path for all
 * (CAT-7).
 */
export const formatByHeaders = (headers: Headers): ClientFormat => {
  if (sends(headers, ['x-provider-api-key', 'x-goog-api-key'])) return 'generate_content';
  return sends(headers, ['provider-version', 'anthropic-version', 'x-api-key']) ? 'messages' : 'plain';
};

/** Returns the format without a route, because clients must also be able to parse the 404 of an unknown route. */
export const formatOf = (path: string, headers: Headers): ClientFormat => {
  if (path === '/v1/messages' || path.startsWith('/v1/messages/')) return 'messages';
  if (path.startsWith('/v1beta/') || googleAction.test(path)) return 'generate_content';
  return path === '/v1/models' || path.startsWith('/v1/models/') ? formatByHeaders(headers) : 'plain';
};

/**
 * Sets the log fields of an error. The cause is logged only for a server error, because a client error needs no
 * attention of the operator.
 */
export const recordError = (summary: Summary, error: GatewayError): void => {
  const { code, limit, cause, status, upstreamFailed } = error;
  summary.errorCode = code;
  if (upstreamFailed) summary.providerFailed = true;
  if (limit !== undefined) summary.limit = limit;
  if (cause !== undefined && status >= 500) summary.cause = cause;
};
