import { expect, test } from 'vitest';
import { errorCodes } from '../../../../lambdas/core/errors/error-codes.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';

const noRepetition = { 'x-should-retry': 'false' };

test('ERR-2 an error has the retry headers of its code', () => {
  const advice = errorCodes.map((code) => {
    const { retryAfterSeconds, headers } = new GatewayError(code, '');
    return [code, retryAfterSeconds, headers] as const;
  });
  expect(advice.filter(([, seconds, headers]) => seconds !== undefined || Object.keys(headers).length > 0)).toEqual([
    ['missing_api_key', undefined, noRepetition],
    ['invalid_api_key', undefined, noRepetition],
    ['revoked_api_key', undefined, noRepetition],
    ['expired_api_key', undefined, noRepetition],
    ['idempotency_in_progress', 5, {}],
    ['idempotency_exhausted', undefined, noRepetition],
    ['key_changed', undefined, noRepetition],
    ['video_not_ready', undefined, noRepetition],
    ['video_in_progress', undefined, noRepetition],
    ['rate_limit_exceeded', 1, {}],
    ['service_unavailable', 30, {}],
  ]);
});

test('ERR-2 retry seconds and headers passed to an error override those of its code', () => {
  const headers = { 'x-ratelimit-limit-requests': '15' };
  expect(new GatewayError('service_unavailable', '', { retryAfterSeconds: 7, headers })).toMatchObject({
    retryAfterSeconds: 7,
    headers,
  });
  expect(new GatewayError('missing_api_key', '', { headers }).headers).toEqual({ ...noRepetition, ...headers });
});

test('ERR-2 an error without retry advice has no retry headers', () => {
  for (const code of ['service_unavailable', 'idempotency_exhausted'] as const) {
    expect(new GatewayError(code, '', { retry: 'none' })).toMatchObject({ retryAfterSeconds: undefined, headers: {} });
  }
});
