import { expect, test } from 'vitest';
import { toUrlEvent } from '../../../lambdas/http/rest-event.ts';
import { readPaidHeaders } from '../../../lambdas/protocols/paid-request.ts';
import { functionUrlEvent } from './function-url.ts';
import { restApiEvent } from './rest-api-event.ts';

test('an event of a function URL stays the same object', () => {
  const event = functionUrlEvent({ method: 'POST', path: '/v1/responses', body: '{}' });
  expect(toUrlEvent(event)).toBe(event);
});

test('LIM-7 a REST API event is converted to a function URL event', () => {
  const sent = { method: 'POST', path: '/v1/chat/completions', body: '{"model":"m"}', sourceIp: '198.51.100.9' };
  const { rawPath, body, isBase64Encoded, requestContext, headers, version } = toUrlEvent(restApiEvent(sent));
  expect({ rawPath, body, isBase64Encoded, version }).toEqual({
    rawPath: '/v1/chat/completions',
    body: '{"model":"m"}',
    isBase64Encoded: false,
    version: '2.0',
  });
  expect(requestContext.http).toEqual({
    method: 'POST',
    path: '/v1/chat/completions',
    protocol: 'HTTP/1.1',
    sourceIp: '198.51.100.9',
    userAgent: 'test',
  });
  expect(headers).toEqual({ host: 'id.execute-api.eu-west-1.amazonaws.com' });
});

test("GEN-7 the path is the client's, with its escapes and without the stage", () => {
  const event = restApiEvent({ path: '/v1/models/a%2Fb%20c' });
  expect(event.requestContext.path).toBe('/gateway/v1/models/a%2Fb%20c');
  expect(toUrlEvent(event).rawPath).toBe('/v1/models/a%2Fb%20c');
});

test('AUTH-3 header names are lowercase, repeated values joined, and cookies separate', () => {
  const event = restApiEvent({
    headers: [
      ['X-Provider-Api-Key', 'sk-1'],
      ['Accept', 'a'],
      ['accept', 'b'],
      ['Accept', 'c'],
      ['Cookie', 'one=1; two=2'],
    ],
  });
  const { headers, cookies } = toUrlEvent(event);
  expect(headers).toMatchObject({ 'x-provider-api-key': 'sk-1', accept: 'a, c, b' });
  expect(headers).not.toHaveProperty('cookie');
  expect(cookies).toEqual(['one=1', 'two=2']);
});

test('AUTH-3 every query parameter is kept, with its text encoded again', () => {
  const event = restApiEvent({
    query: [
      ['key', 'sk-service-1'],
      ['a b', '1&2'],
      ['a b', 'é='],
      ['half', '\ud800'],
      ['empty', ''],
    ],
  });
  const { rawQueryString, queryStringParameters } = toUrlEvent(event);
  expect(rawQueryString).toBe('key=sk-service-1&a%20b=1%262&a%20b=%C3%A9%3D&half=%EF%BF%BD&empty=');
  expect(queryStringParameters).toMatchObject({ key: 'sk-service-1', 'a b': '1&2,é=', empty: '' });
});

test('GEN-2 an event with nulls, or without lists of values, is read', () => {
  const bare = toUrlEvent({
    ...restApiEvent(),
    ...{ headers: { 'X-Api-Key': 'k' }, queryStringParameters: { key: 'q' } },
    multiValueHeaders: Object.create(null),
    multiValueQueryStringParameters: null,
  });
  expect(bare).toMatchObject({ rawQueryString: 'key=q', queryStringParameters: { key: 'q' } });
  const empty = toUrlEvent(restApiEvent());
  expect(empty.rawQueryString).toBe('');
  expect(empty).not.toHaveProperty('queryStringParameters');
  expect(empty).not.toHaveProperty('body');
  expect(empty).not.toHaveProperty('cookies');
});

test('a form keeps its bytes', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  const { body, isBase64Encoded } = toUrlEvent(restApiEvent({ method: 'POST', body: bytes, base64: true }));
  expect(isBase64Encoded).toBe(true);
  expect(new Uint8Array(Buffer.from(body ?? '', 'base64'))).toEqual(bytes);
});

test('IDEM-6 two Idempotency-Keys are rejected', () => {
  const event = restApiEvent({
    headers: [
      ['Idempotency-Key', 'one'],
      ['Idempotency-Key', 'two'],
    ],
  });
  const rules = { takesKeys: true, takesFallback: false };
  expect(() => readPaidHeaders(toUrlEvent(event).headers, rules, false)).toThrow(/Idempotency-Key/i);
});
