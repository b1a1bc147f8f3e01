import { expect, test } from 'vitest';
import { fingerprintOf } from '../../../lambdas/core/idempotency/stored-response.ts';
import { noKeys, readPaidHeaders } from '../../../lambdas/protocols/paid-request.ts';

const one = 'x-service-fallback-model';
const list = 'x-service-fallback-models';
const rules = { takesKeys: true, takesFallback: true };
const fallbacksOf = (headers: Readonly<Record<string, string>>) => readPaidHeaders(headers, rules, false).fallbacks;

test('FALL-1 FALL-6 both headers are read as a list', () => {
  expect(fallbacksOf({})).toBeUndefined();
  expect(fallbacksOf({ [one]: 'a' })).toEqual({ header: one, modelIds: ['a'] });
  expect(fallbacksOf({ [list]: 'a' })).toEqual({ header: list, modelIds: ['a'] });
  expect(fallbacksOf({ [list]: 'c,a ,\tb' })).toEqual({ header: list, modelIds: ['c', 'a', 'b'] });
});

test.for([
  [{ [one]: 'a, b' }, one, 'takes exactly one model id. Use x-service-fallback-models for up to 3.'],
  [{ [one]: '' }, one, 'has an empty entry. Send a model id, or remove the header or the comma.'],
  [{ [list]: '' }, list, 'has an empty entry. Send a model id, or remove the header or the comma.'],
  [{ [list]: 'a,, b' }, list, 'has an empty entry. Send a model id, or remove the header or the comma.'],
  [{ [list]: 'a, b,' }, list, 'has an empty entry. Send a model id, or remove the header or the comma.'],
  [{ [list]: 'a, b, c, d' }, list, 'has 4 model ids, and the limit is 3. Remove the rest.'],
  [
    { [one]: 'a', [list]: 'a' },
    list,
    'cannot be combined with x-service-fallback-model. Remove one of the two headers.',
  ],
  [{ [one]: '', [list]: '' }, list, 'cannot be combined with x-service-fallback-model. Remove one of the two headers.'],
] as const)('FALL-4 FALL-6 the headers %o are 400', ([headers, param, problem]) => {
  expect(() => fallbacksOf(headers as Readonly<Record<string, string>>)).toThrow(
    expect.objectContaining({ code: 'invalid_fallback_model', status: 400, param, message: `${param}: ${problem}` }),
  );
});

test.for([one, list])('FALL-4 %s is 400 on a route without fallback models', (param) => {
  expect(() => readPaidHeaders({ [param]: 'a' }, noKeys, false)).toThrow(
    expect.objectContaining({ code: 'invalid_fallback_model', param }),
  );
});

test('IDEM-6 the fallback models and their order are part of the request', () => {
  const request = { method: 'POST', path: '/v1/chat/completions', body: { model: 'm' } };
  const lists = [undefined, ['a'], ['b'], ['a', 'b'], ['b', 'a'], ['a,b']];
  const seen = lists.map((fallbackModelIds) => fingerprintOf({ ...request, fallbackModelIds }));
  expect(new Set(seen).size).toBe(lists.length);
  expect(fingerprintOf({ ...request, fallbackModelIds: [] })).toBe(seen[0]);
});
