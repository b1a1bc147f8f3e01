import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { matchPath, matchRoute } from '../../../lambdas/http/router.ts';
import { type RouteName, routes } from '../../../lambdas/routes.ts';

const all = (): boolean => true;

const refusalOf = (method: string, path: string): GatewayError => {
  try {
    matchRoute(method, path, all);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`${method} ${path} is served`);
};

test.for(Object.entries(routes))('GEN-7 %s is found by its own method and path', ([name, { method, path }]) => {
  const match = matchRoute(method, path.replace(/\{\w+\}/g, 'some-id'), all);
  expect(match.name).toBe(name);
});

test.for([
  ['/v1beta/models/gemini:generateContent', 'generateContent', 'gemini'],
  ['/v1/models/gemini:generateContent', 'generateContent', 'gemini'],
  ['/v1beta/models/gemini%3AgenerateContent', 'generateContent', 'gemini'],
  ['/v1/models/gemini:streamGenerateContent', 'streamGenerateContent', 'gemini'],
  ['/v1/models/gemini:countTokens', 'countContentTokens', 'gemini'],
] as const)('GEM-2 %s is the action %s of %s', ([path, name, model]) => {
  expect(matchRoute('POST', path, all)).toMatchObject({ name, params: { model } });
});

test.for([
  '/v1beta/models/gemini:embedContent',
  '/v1beta/models/gemini:',
  '/v1beta/models/:generateContent',
  '/v1beta/models/gemini:generatecontent',
  '/v1beta/models/a:b:generateContent',
  '/v1alpha/models/gemini:generateContent',
])('GEM-3 %s is not an action', (path) => {
  expect(refusalOf('POST', path)).toMatchObject({ code: 'not_found', status: 404 });
});

test.for([
  ['/v1/models/gpt-4.1', 'gpt-4.1'],
  ['/v1/models/a%2Fb', 'a/b'],
  ['/v1/models/%E6%97%A5', '日'],
  ['/v1/models/a+b', 'a+b'],
] as const)('GEN-7 the parameter of %s is %s', ([path, id]) => {
  expect(matchRoute('GET', path, all).params).toEqual({ id });
});

test.for([
  '',
  '/v1',
  '/v1/models/',
  '/v1/models/a/b',
  '/v1/models/%',
  '/v1/models/%ff',
  '/v1/chat/completions/',
  '/v1//models',
  '/V1/models',
  '/v1/%6dodels',
  '/v1/models?x',
  '/constructor',
  '/__proto__',
])('GEN-7 %s is not a route', (path) => {
  expect(refusalOf('GET', path)).toMatchObject({ code: 'not_found', status: 404 });
  expect(matchPath(path)).toEqual([]);
});

test.for([
  ['POST', '/chat/completions', '/v1/chat/completions'],
  ['POST', '/v1/image/generation', '/v1/images/generations'],
  ['POST', '/v1/v1/messages', '/v1/messages'],
  ['HEAD', '/v1/model', '/v1/models'],
  ['GET', '/models', '/v1/models'],
  ['GET', '/model', '/v1/models'],
  ['GET', '/api/model', '/api/models'],
  ['GET', '/V1/Models', '/v1/models'],
] as const)('GEN-7 the 404 of %s %s names %s', ([method, path, nearest]) => {
  expect(refusalOf(method, path).message).toContain(`The nearest path is ${nearest}.`);
});

test.for(['/v1/completions', '/completions'])('GEN-7 the 404 of %s names the fields of chat', (path) => {
  const advice = 'Use /v1/chat/completions with messages instead of prompt.';
  expect(refusalOf('POST', path).message).toBe(`There is nothing at ${path}. ${advice}`);
});

test.for([
  ...['files', 'assistants', 'threads', 'batches', 'realtime', 'fine_tuning/jobs', 'vector_stores', 'uploads'].flatMap(
    (name) => [['POST', `/v1/${name}`] as const, ['GET', `/v1/${name}`] as const],
  ),
  ['PROPFIND', '/v1/model'],
] as const)('GEN-7 the 404 of %s %s names the list of routes', ([method, path]) => {
  expect(refusalOf(method, path).message).toBe(
    `There is nothing at ${path}. The gateway does not have this API. GET /api-reference lists every route.`,
  );
});

test('GEN-7 a long path is cut in the message', () => {
  expect(refusalOf('GET', `/${'x'.repeat(10_000)}`).message.length).toBeLessThan(320);
});

test.for([
  ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
  ['HEAD', '/v1/chat/completions', 'POST, OPTIONS'],
  ['DELETE', '/v1/models', 'GET, HEAD, OPTIONS'],
  ['get', '/health', 'GET, HEAD, OPTIONS'],
  ['head', '/health', 'GET, HEAD, OPTIONS'],
  ['POST', '/v1/videos/a', 'GET, HEAD, DELETE, OPTIONS'],
  ['DELETE', '/v1/videos/a/content', 'GET, HEAD, OPTIONS'],
] as const)('GEN-7 %s %s is 405 with Allow', ([method, path, allow]) => {
  expect(refusalOf(method, path)).toMatchObject({ code: 'method_not_allowed', status: 405, headers: { allow } });
});

test('GEN-7 HEAD has the route of GET', () => {
  for (const [name, { method, path }] of Object.entries(routes)) {
    if (method !== 'GET') continue;
    const filled = path.replaceAll(/\{\w+\}/g, 'some-id');
    expect([filled, matchRoute('HEAD', filled, () => true).name]).toEqual([filled, name]);
  }
});

test('GEN-7 routes of another function are not found', () => {
  const catalogOnly = (name: RouteName): boolean => routes[name].function === 'catalog';
  expect(matchRoute('GET', '/v1/models', catalogOnly).name).toBe('listModels');
  expect(() => matchRoute('POST', '/v1/chat/completions', catalogOnly)).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  );
});

test('GEN-7 a method that no function serves at a path is 405 with the existing methods', () => {
  const catalogOnly = (name: RouteName): boolean => routes[name].function === 'catalog';
  for (const [method, path, allow] of [
    ['GET', '/v1/chat/completions', 'POST, OPTIONS'],
    ['GET', '/v1beta/models/gemini:generateContent', 'POST, OPTIONS'],
    ['PATCH', '/v1/videos/a', 'GET, HEAD, DELETE, OPTIONS'],
  ] as const)
    expect(() => matchRoute(method, path, catalogOnly)).toThrow(
      expect.objectContaining({ code: 'method_not_allowed', headers: { allow } }),
    );
});
