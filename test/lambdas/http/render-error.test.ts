import { expect, test } from 'vitest';
import { errorCodes, GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { corsHeaders, preflightHeaders } from '../../../lambdas/http/cors.ts';
import { errorHeaders, toErrorBody, toGatewayError } from '../../../lambdas/http/render-error.ts';

test('GEN-3 an error has a message, a type, a code and a param, null when there is none', () => {
  expect(toErrorBody(new GatewayError('model_not_found', 'words', { param: 'model' }), 'plain', 'id')).toEqual({
    error: { message: 'words', type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
  });
  expect(toErrorBody(new GatewayError('upstream_timeout', 'words', { cause: 'canary' }), 'plain', 'id')).toEqual({
    error: { message: 'words', type: 'upstream_error', code: 'upstream_timeout', param: null },
  });
});

test('GEN-3 an error on messages says that it is one and carries the id, on generate-content it has a status', () => {
  const error = new GatewayError('upstream_capacity', 'words', { param: 'model' });
  const members = { message: 'words', type: 'rate_limit_error', code: 'upstream_capacity', param: 'model' };
  expect(toErrorBody(error, 'messages', 'id')).toEqual({ type: 'error', error: members, request_id: 'id' });
  expect(toErrorBody(error, 'generate_content', 'id')).toEqual({
    error: { ...members, status: 'RESOURCE_EXHAUSTED' },
  });
  expect(toErrorBody(new GatewayError('unprocessable_entity', ''), 'generate_content', 'id')).toMatchObject({
    error: { status: 'INVALID_ARGUMENT' },
  });
});

test.for(errorCodes)('ERR-1 the type of %s fits its status', (code) => {
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
  'ERR-5 what was not meant to be thrown is 500 and hides its message: %s',
  (thrown) => {
    const error = toGatewayError(thrown);
    expect(error).toMatchObject({ code: 'internal_error', status: 500, cause: thrown });
    expect(JSON.stringify(toErrorBody(error, 'plain', 'id'))).not.toContain('canary');
  },
);

test('ERR-2 Retry-After stands beside the headers of the error', () => {
  const headers = { allow: 'GET' };
  expect(errorHeaders(new GatewayError('upstream_capacity', 'x', { retryAfterSeconds: 7, headers }))).toEqual({
    'retry-after': '7',
    allow: 'GET',
  });
  expect(errorHeaders(new GatewayError('model_unavailable', 'x'))).toEqual({});
});

test('GEN-13 any origin, every header to be read, no credentials', () => {
  expect(corsHeaders).toEqual({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' });
  // A browser does not count authorization among the "*".
  expect(preflightHeaders['access-control-allow-headers'].split(/, */)).toEqual(
    expect.arrayContaining(['authorization', '*']),
  );
  expect(preflightHeaders['access-control-allow-methods'].split(/, */)).toEqual(
    expect.arrayContaining(['GET', 'POST', 'DELETE', 'OPTIONS']),
  );
  expect(preflightHeaders).not.toHaveProperty('access-control-allow-credentials');
});
