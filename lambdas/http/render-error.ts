import { GatewayError } from '../core/errors/gateway-error.ts';
import type { Summary } from './exchange.ts';

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto: the canonical name nearest to an HTTP status. */
const googleStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export const googleStatusOf = ({ status }: GatewayError): string => googleStatuses[status] ?? 'INVALID_ARGUMENT';

/** https://google.aip.dev/193. Google's SDKs read the numeric code; the details carry the gateway's own code and field. */
const toGoogleError = (error: GatewayError): object => {
  const { message, status, code, param, retryAfterSeconds } = error;
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
  return { code: status, message, status: googleStatusOf(error), details };
};

/** https://platform.claude.com/docs/en/api/errors: every other status below 500 is an `invalid_request_error`, from 500 an `api_error`. */
const messagesTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
};

export const messagesTypeOf = ({ status, code }: GatewayError): string => {
  // The type for "retry later"; the other code with this status asks for another model.
  if (code === 'service_unavailable') return 'overloaded_error';
  return messagesTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
};

/** Clients of OpenAI's formats, such as LiteLLM, know a prompt that is too long by these words. */
const inClientWords = ({ code, message }: GatewayError): string =>
  code === 'context_length_exceeded' && !/maximum context length/i.test(message)
    ? `This model's maximum context length is exceeded. ${message}`
    : message;

/** The body of an error in the caller's format (GEN-3). */
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

/** Whatever was thrown, as the error a client may see. A bug is a 500 that hides its message. */
export const toGatewayError = (thrown: unknown): GatewayError =>
  thrown instanceof GatewayError
    ? thrown
    : new GatewayError('internal_error', 'The gateway failed. Nothing was charged.', { cause: thrown });

export const errorHeaders = (error: GatewayError): Record<string, string> => ({
  ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
  ...error.headers,
});

/** Whose SDK a caller uses, as far as that changes the shape of what it can read. */
export type ClientFormat = 'plain' | 'messages' | 'generate_content';

type Headers = Readonly<Record<string, string | undefined>>;

/** Google's SDKs leave the `beta` out. */
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

/** Known before the route is: a 404 has to be read, too. */
export const formatOf = (path: string, headers: Headers): ClientFormat => {
  if (path === '/v1/messages' || path.startsWith('/v1/messages/')) return 'messages';
  if (path.startsWith('/v1beta/') || googleAction.test(path)) return 'generate_content';
  return path === '/v1/models' || path.startsWith('/v1/models/') ? formatByHeaders(headers) : 'plain';
};

/** Sets the log fields of an error. A client error needs no attention of the operator. */
export const recordError = (summary: Summary, { code, limit, cause, status }: GatewayError): void => {
  summary.errorCode = code;
  if (limit !== undefined) summary.limit = limit;
  if (cause !== undefined && status >= 500) summary.cause = cause;
};
