import { expect, test } from 'vitest';
import { type ErrorCode, errorCodes } from '../../../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { errorHeaders, toErrorBody, toGatewayError } from '../../../lambdas/http/render-error.ts';
import { corsHeaders, preflightHeaders } from '../../../lambdas/http/router.ts';

test('GEN-3 an error has message, type, code and param, or null', () => {
  expect(toErrorBody(new GatewayError('model_not_found', 'words', { param: 'model' }), 'plain', 'id')).toEqual({
    error: { message: 'words', type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
  });
  expect(toErrorBody(new GatewayError('upstream_timeout', 'words', { cause: 'canary' }), 'plain', 'id')).toEqual({
    error: { message: 'words', type: 'upstream_error', code: 'upstream_timeout', param: null },
  });
});

test('GEN-3 an error of the messages format has a type of that format and the request id', () => {
  const error = new GatewayError('upstream_capacity', 'words', { param: 'model' });
  expect(toErrorBody(error, 'messages', 'id')).toEqual({
    type: 'error',
    error: { message: 'words', type: 'rate_limit_error', code: 'upstream_capacity', param: 'model' },
    request_id: 'id',
  });
});

test("GEN-3 an error of generateContent has Google's code and status, and our type, code and field", () => {
  const error = new GatewayError('upstream_capacity', 'words', { param: 'model', retryAfterSeconds: 7 });
  expect(toErrorBody(error, 'generate_content', 'id')).toEqual({
    error: {
      code: 429,
      message: 'words',
      status: 'RESOURCE_EXHAUSTED',
      type: 'rate_limit_error',
      param: 'model',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'upstream_capacity',
          domain: 'model-gateway',
          metadata: { param: 'model' },
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' },
      ],
    },
  });
  expect(toErrorBody(new GatewayError('unprocessable_entity', ''), 'generate_content', 'id')).toMatchObject({
    error: {
      code: 422,
      status: 'INVALID_ARGUMENT',
      param: null,
      details: [{ reason: 'unprocessable_entity', metadata: {} }],
    },
  });
});

const messagesTypes = {
  invalid_size: 'invalid_request_error',
  invalid_api_key: 'authentication_error',
  insufficient_balance: 'billing_error',
  account_blocked: 'permission_error',
  model_not_found: 'not_found_error',
  method_not_allowed: 'invalid_request_error',
  request_timeout: 'invalid_request_error',
  credit_mismatch: 'conflict_error',
  payload_too_large: 'request_too_large',
  unprocessable_entity: 'invalid_request_error',
  upgrade_required: 'invalid_request_error',
  rate_limit_exceeded: 'rate_limit_error',
  internal_error: 'api_error',
  upstream_error: 'api_error',
  service_unavailable: 'overloaded_error',
  model_unavailable: 'api_error',
  upstream_timeout: 'timeout_error',
} satisfies Partial<Record<ErrorCode, string>>;

test("GEN-3 the type of an error of messages is Anthropic's for its status", () => {
  const codes = errorCodes.filter((code) => code in messagesTypes);
  const sent = codes.map((code) => [code, toErrorBody(new GatewayError(code, ''), 'messages', 'id')]);
  expect(Object.fromEntries(sent)).toMatchObject(
    Object.fromEntries(Object.entries(messagesTypes).map(([code, type]) => [code, { error: { type } }])),
  );
  const covered = new Set(codes.map((code) => new GatewayError(code, '').status));
  const statuses = new Set(errorCodes.map((code) => new GatewayError(code, '').status));
  expect([...statuses].filter((status) => !covered.has(status))).toEqual([415, 416]);
});

test.for(errorCodes)('ERR-1 the type of %s matches its status', (code) => {
  const { status, type } = new GatewayError(code, 'words');
  const other = status < 500 ? 'invalid_request_error' : 'upstream_error';
  const types: Readonly<Record<number, string>> = {
    401: 'authentication_error',
    402: 'insufficient_balance',
    403: 'permission_error',
    429: 'rate_limit_error',
    503: 'service_unavailable',
  };
  expect(type).toBe(types[status] ?? other);
});

test.for([new TypeError('canary'), 'canary', undefined, null, { code: 'not_found', status: 404, message: 'canary' }])(
  'ERR-5 an unexpected error is 500 and hides its message: %s',
  (thrown) => {
    const error = toGatewayError(thrown);
    expect(error).toMatchObject({ code: 'internal_error', status: 500, cause: thrown });
    expect(JSON.stringify(toErrorBody(error, 'plain', 'id'))).not.toContain('canary');
  },
);

test('ERR-2 Retry-After is sent in addition to the headers of the error', () => {
  const headers = { allow: 'GET' };
  expect(errorHeaders(new GatewayError('upstream_capacity', 'x', { retryAfterSeconds: 7, headers }))).toEqual({
    'retry-after': '7',
    allow: 'GET',
  });
  expect(errorHeaders(new GatewayError('model_unavailable', 'x'))).toEqual({});
});

test('GEN-13 CORS allows any origin and every header, without credentials', () => {
  expect(corsHeaders).toEqual({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' });
  // In browsers "*" does not include authorization.
  expect(preflightHeaders['access-control-allow-headers'].split(/, */)).toEqual(
    expect.arrayContaining(['authorization', '*']),
  );
  expect(preflightHeaders['access-control-allow-methods'].split(/, */)).toEqual(
    expect.arrayContaining(['GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS']),
  );
  expect(preflightHeaders).not.toHaveProperty('access-control-allow-credentials');
});

test('CHAT-13 a prompt that is too long has the wording that clients recognize', () => {
  const message = (text: string, format: 'plain' | 'messages') =>
    JSON.stringify(toErrorBody(new GatewayError('context_length_exceeded', text), format, 'id'));
  expect(message('prompt is too long', 'plain')).toContain(
    "This model's maximum context length is exceeded. prompt is too long",
  );
  expect(message("This model's maximum context length is 8 tokens.", 'plain')).not.toContain('exceeded. ');
  expect(message('prompt is too long', 'messages')).not.toContain('maximum context length');
});
