import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isApiKey, makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { credentialForms, isKeyCredential } from '../../../lambdas/http/authenticate.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { viewerFunctionCode } from '../../../lib/edge/function-code.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { type EdgeRequest, REQUEST_ID, runEdgeFunction, toEdgeRequest, toProgram } from './edge-function.ts';

const NOW = Date.UTC(2026, 10, 22);
const SECOND = NOW / 1_000;
const values = { largeBodyOrigin: 'inference', bucketOrigin: 'bucket', mediaOrigin: 'content' };
const code = viewerFunctionCode(values);
const without = viewerFunctionCode({ ...values, largeBodyOrigin: '' });

const run = (request: EdgeRequest, script = code) => {
  const { result, chosen } = runEdgeFunction(script, NOW, { request });
  return { result, chosen, passed: 'uri' in result ? result : undefined };
};

const google = '/v1beta/models/gemini-2.5-flash:generateContent';

type KeyRow = readonly [address: string, headers: Record<string, string>, key: string | undefined, query: string];
const keys: readonly KeyRow[] = [
  [`${google}?key=sk-1`, {}, 'sk-1', ''],
  [`${google}?alt=sse&key=sk-1`, {}, 'sk-1', 'alt=sse'],
  [`${google}?key=sk-1&alt=sse&a=%20b`, {}, 'sk-1', 'alt=sse&a=%20b'],
  ['/v1beta/models?key=sk-1&pageSize=5', {}, 'sk-1', 'pageSize=5'],
  ['/v1beta/models/gemini?key=sk-1', {}, 'sk-1', ''],
  ['/v1beta/nothing?key=sk-1', {}, 'sk-1', ''],
  ['/v1/models/gemini:streamGenerateContent?key=sk-1', {}, 'sk-1', ''],
  ['/v1/models/gemini%3AcountTokens?key=sk-1', {}, 'sk-1', ''],
  [`${google}?key=sk%2D1`, {}, 'sk-1', ''],
  [`${google}?%6Bey=sk-1`, {}, 'sk-1', ''],
  [`${google}?key=%20sk-1+`, {}, 'sk-1', ''],
  [`${google}?key=a&key=b`, {}, 'a,b', ''],
  [`${google}?key=&key=`, {}, ',', ''],
  // Two spellings of the name: their order is lost, and the joined text is not a key in either order.
  [`${google}?%6Bey=a&key=&%6Bey=a`, {}, 'a,a,', ''],
  [`${google}?key=`, {}, undefined, ''],
  [`${google}?key`, {}, undefined, ''],
  [`${google}?key=%20`, {}, undefined, ''],
  [`${google}?alt=sse`, {}, undefined, 'alt=sse'],
  [google, {}, undefined, ''],
  // A character that a header cannot contain stays encoded. Keys do not contain it.
  [`${google}?key=a%0Ab`, {}, 'a%0Ab', ''],
  [`${google}?key=a%20b`, {}, 'a%20b', ''],
  [`${google}?key=%C3%A9`, {}, '%C3%A9', ''],
  [`${google}?key=%`, {}, '%', ''],
  [`${google}?key=sk-1`, { 'x-provider-api-key': 'sk-2' }, 'sk-2', ''],
  [`${google}?key=sk-1`, { 'x-provider-api-key': ' ' }, 'sk-1', ''],
  [`${google}?key=sk-1`, { 'x-goog-api-key': 'sk-2' }, undefined, ''],
  [`${google}?key=sk-1`, { 'x-goog-api-key': '' }, 'sk-1', ''],
  [`${google}?key=sk-1`, { authorization: 'Bearer sk-2' }, 'sk-1', ''],
  // On other paths, the program reads no key from the query.
  ['/v1/chat/completions?key=sk-1', {}, undefined, 'key=sk-1'],
  ['/v1/messages?key=sk-1', {}, undefined, 'key=sk-1'],
  ['/v1/models?key=sk-1', {}, undefined, 'key=sk-1'],
  ['/v1betas/models?key=sk-1', {}, undefined, 'key=sk-1'],
  [`${google}?Key=sk-1`, {}, undefined, 'Key=sk-1'],
];

test.each(keys)('AUTH-3 %s with %j: the header is %s, the query %j', (address, headers, key, query) => {
  const method = /:|%3A/.test(address) ? 'POST' : 'GET';
  const { passed, chosen } = run(toEdgeRequest(method, address, { ...headers, 'content-length': '2' }));
  const sent = toProgram(passed!);
  expect([sent.headers['x-provider-api-key'], sent.query, chosen]).toEqual([key, query, []]);
});

test('AUTH-3 the key stays in the query of a model whose name has a colon', () => {
  const { passed } = run(toEdgeRequest('GET', '/v1/models/gemini:next?key=sk-1'));
  expect(toProgram(passed!)).toEqual({
    query: 'key=sk-1',
    headers: { host: 'd111111abcdef8.cloudfront.net', 'x-client-ip': '192.0.2.1' },
  });
});

test.each<Record<string, string>>([{}, { 'x-client-ip': '198.51.100.1' }])(
  'LIM-7 the viewer function sets the client IP whatever the client sends: %j',
  (headers) => {
    for (const request of [
      toEdgeRequest('GET', '/api/models', headers),
      toEdgeRequest('POST', '/v1/chat/completions', headers),
      toEdgeRequest('GET', `/media/${SECOND + 60}-${'a'.repeat(32)}`, headers),
    ]) {
      expect(toProgram(run(request).passed!).headers['x-client-ip']).toBe('192.0.2.1');
    }
  },
);

const credentialOf = (credential: Route['credential'], headers: Record<string, string>, query: string) => {
  if (!isKeyCredential(credential)) return undefined;
  const parameters = new URLSearchParams(query);
  const joined = [...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name).join(',')]);
  return credentialForms[credential].read(headers, Object.fromEntries(joined));
};

/** API keys contain only these characters, so a credential with others gets 401 wherever it is read (AUTH-4). */
const canBeKey = (credential: string | undefined): boolean => /^[\w-]+$/.test(credential ?? '');

/*
 * CloudFront parses the query into one member per spelling of a name, with `multiValue` for repeated ones, so the edge
 * function does not know the order of `key` and `%6Bey`. (`rawQueryString()` has the order, but the gateway rejects
 * such a request in any case.)
 * https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-event-structure.html The values are
 * joined by commas. API keys contain no comma, so the request gets 401 in any order. Therefore this test compares the
 * two credentials only if one of them can be a key.
 */
test('AUTH-3 on every route, the program reads the same key behind the edge as without it', () => {
  const part = fc.constantFrom('a', '-', '%2D', '9', 'a', '-', '+', '%20', '%', ',');
  const text = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''));
  const name = fc.constantFrom('key', '%6Bey', 'Key', 'alt');
  const queries = fc
    .array(fc.tuple(name, text), { maxLength: 3 })
    .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));
  const header = fc.constantFrom('authorization', 'x-api-key', 'x-provider-api-key', 'x-goog-api-key');
  const headers = fc.dictionary(header, fc.constantFrom('', ' ', 'sk-1', 'Bearer sk-2'), { noNullPrototype: true });
  fc.assert(
    fc.property(fc.constantFrom<Route>(...Object.values(routes)), queries, headers, (route, query, sent) => {
      const path = route.path.replaceAll(/\{[^}]+\}/g, 'x1');
      const { passed } = run(toEdgeRequest(route.method, `${path}?${query}`, sent));
      const behind = toProgram(passed!);
      const expected = credentialOf(route.credential, sent, query);
      const actual = credentialOf(route.credential, behind.headers, behind.query);
      expect(actual === undefined).toBe(expected === undefined);
      if (canBeKey(expected) || canBeKey(actual)) expect(actual).toBe(expected);
    }),
    randomRuns(import.meta.filename, { quick: 1_500, long: 10_000 }),
  );
});

test('AUTH-3 API keys have no character that the edge changes, and joined keys are not a key', () => {
  const key = makeApiKey(new Uint8Array(32).fill(7));
  expect([canBeKey(key), isApiKey(key), isApiKey(`${key},${key}`)]).toEqual([true, true, false]);
});

type BodyRow = readonly [method: string, address: string, length: string | undefined, chosen: readonly string[]];
const bodies: readonly BodyRow[] = [
  ['POST', '/v1/chat/completions', '2', []],
  ['POST', '/v1/chat/completions', '0', []],
  ['POST', '/v1/chat/completions', '3000000', []],
  ['POST', '/v1/chat/completions', '3000001', ['inference']],
  ['POST', '/v1/chat/completions', String(BODY_BYTES_MAX), ['inference']],
  ['POST', '/v1/chat/completions', undefined, ['inference']],
  ['POST', '/v1/chat/completions', 'much', ['inference']],
  ['POST', '/v1/responses', '3000001', ['inference']],
  ['POST', '/v1/messages', '3000001', ['inference']],
  ['POST', '/v1/messages/count_tokens', '3000001', ['inference']],
  ['POST', '/v1beta/models/gemini:generateContent?key=k', '3000001', ['inference']],
  ['POST', '/v1/models/gemini%3AstreamGenerateContent', undefined, ['inference']],
  ['POST', '/v1/embeddings', '3000001', ['inference']],
  ['POST', '/v1/images/edits', '3000001', ['inference']],
  ['POST', '/v1/audio/transcriptions', undefined, ['inference']],
  ['POST', '/v1/videos', '3000001', ['inference']],
  ['POST', '/v1/videos/v1', '3000001', []],
  ['POST', '/v1/chat/completions/x', '3000001', []],
  ['POST', '/bot', '3000001', []],
  ['POST', '/app/credits', undefined, []],
  ['POST', '/anything', '3000001', []],
  ['GET', '/v1/models', undefined, []],
  ['GET', '/v1/videos', undefined, []],
  ['OPTIONS', '/v1/chat/completions', undefined, []],
  ['DELETE', '/v1/videos/v1', undefined, []],
];

test.each(bodies)('GEN-1 %s %s with a length of %s goes to %j', (method, address, length, chosen) => {
  const request = toEdgeRequest(method, address, length === undefined ? {} : { 'content-length': length });
  expect(run(request).chosen).toEqual(chosen);
  expect(run(request, without).chosen).toEqual([]);
});

test.for([
  ['zstd', ['inference']],
  [' Identity', []],
] as const)('GEN-12 a short body in %s goes to %j', ([coding, chosen]) => {
  const headers = { 'content-length': '2', 'content-encoding': coding };
  expect(run(toEdgeRequest('POST', '/v1/responses', headers)).chosen).toEqual(chosen);
});

test('GEN-1 every route of the Web Function with a body has an origin for large bodies', () => {
  for (const { path, method, body, function: owner } of Object.values<Route>(routes)) {
    const request = toEdgeRequest(method, path.replaceAll(/\{[^}]+\}/g, 'x1'), { 'content-length': '3000001' });
    const isServed = body !== 'none' && ['text', 'images', 'audio', 'videos'].includes(owner);
    expect(run(request).chosen, path).toEqual(isServed ? ['inference'] : []);
  }
});

const token = '00112233445566778899aabbccddeeff';
const group = {
  originIds: [{ originId: 'bucket' }, { originId: 'content' }],
  failoverCriteria: { statusCodes: [403, 404, 500, 502, 503, 504] },
};

type MediaRow = readonly [method: string, name: string, outcome: 'bucket' | 'expired' | 'function'];
const media: readonly MediaRow[] = [
  ['GET', `${SECOND + 86_400}-${token}`, 'bucket'],
  ['GET', `${SECOND + 1}-${token}`, 'bucket'],
  ['GET', `${SECOND + 1}-${token}?response-content-type=text/html`, 'bucket'],
  ['GET', `${SECOND}-${token}`, 'expired'],
  ['GET', `${SECOND - 1}-${token}`, 'expired'],
  ['GET', `0000000000-${token}`, 'expired'],
  ['HEAD', `${SECOND + 1}-${token}`, 'bucket'],
  ['HEAD', `${SECOND}-${token}`, 'expired'],
  // The edge forwards these requests to the function, which responds to them itself.
  ['POST', `${SECOND - 1}-${token}`, 'function'],
  ['OPTIONS', `${SECOND - 1}-${token}`, 'function'],
  ['GET', `${SECOND + 1}-${token}0`, 'function'],
  ['GET', `${SECOND + 1}-${token.toUpperCase()}`, 'function'],
  ['GET', `${SECOND + 1}-${token}/x`, 'function'],
  ['GET', 'x', 'function'],
  ['GET', '', 'function'],
];

test.each(media)('IMG-6 %s /media/%s: %s', (method, name, outcome) => {
  const request = toEdgeRequest(method, `/media/${name}`);
  const { result, passed, chosen } = run(request);
  expect(chosen).toEqual(outcome === 'bucket' ? [group] : []);
  if (outcome !== 'expired') {
    const headers = { ...request.headers, 'x-client-ip': { value: '192.0.2.1' } };
    return expect(passed).toEqual({ ...request, headers });
  }
  expect(result).toMatchObject({ statusCode: 404, headers: { 'x-request-id': { value: REQUEST_ID } } });
  expect('body' in Object(result)).toBe(method === 'GET');
});
