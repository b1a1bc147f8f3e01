import { expect, test } from 'vitest';
import { type Route, routes } from '../../../lambdas/routes.ts';
import type { SampleRequest } from '../../../reference/samples/sample-request.ts';
import { sdkArguments, sdkCalls } from '../../../reference/samples/sdk-calls.ts';

const request: SampleRequest = {
  method: 'POST',
  target: '/',
  ids: ['gemini'],
  credential: 'generate_content',
  body: { kind: 'json', value: { contents: [], labels: { a: 'b' }, generationConfig: { temperature: 0 } } },
  accepts: 'application/json',
};

test("REF-5 Google's SDKs get the id of the path as model, and other members in config", () => {
  expect(sdkArguments(request, { sdk: 'google', method: 'x' })).toEqual({
    model: 'gemini',
    contents: [],
    config: { labels: { a: 'b' }, temperature: 0 },
  });
  expect(sdkArguments(request, { sdk: 'openai', method: 'x' })).toEqual(request.body?.value);
});

test('REF-5 every paid route except videos has an SDK', () => {
  const paid = Object.entries<Route>(routes).filter(([, { billed }]) => billed);
  expect(paid.map(([name]) => name).filter((name) => !(name in sdkCalls))).toEqual(['createVideo']);
});
