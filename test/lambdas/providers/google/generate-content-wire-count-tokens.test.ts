import { expect, test } from 'vitest';
import { createContentTokenCounter } from '../../../../lambdas/providers/google/generate-content-wire.ts';
import { codeOf } from './stream-reading.ts';
import { googleProvider, googleUpstream, nativeBody, type Played, playedOptions, sentBody } from './wire-call.ts';

const count = async (played: Played, body = nativeBody) => {
  const { options, seen } = playedOptions(played);
  const counter = createContentTokenCounter(options);
  const { signal } = new AbortController();
  const counted = await counter({ provider: googleProvider, upstream: googleUpstream, body, signal });
  return { counted, seen };
};

const thrown = (played: Played) => count(played).then(() => 'nothing', codeOf);

test('BILL-17 a count is one request, and returns the provider’s body', async () => {
  const answer = { totalTokens: 7, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 7 }] };
  const { counted, seen } = await count({ body: JSON.stringify(answer) });
  expect(counted).toEqual(answer);
  expect(seen.requests.map(({ url }) => url)).toEqual(['https://vendor.test/v1beta/models/vendor-name:countTokens']);
  expect(sentBody(seen)).toEqual(nativeBody);
});

test('BILL-17 a whole request that is counted names the provider’s model', async () => {
  const generateContentRequest = { ...nativeBody, model: 'models/alpha-1', systemInstruction: { parts: [] } };
  const { seen } = await count({ body: '{"totalTokens":7}' }, { generateContentRequest });
  expect(sentBody(seen)).toEqual({
    generateContentRequest: { ...generateContentRequest, model: 'models/vendor-name' },
  });
});

test.for([
  [200, '[]', 'upstream_error'],
  [200, '<html>', 'upstream_error'],
  [200, '{"error":{"code":429,"message":"x"}}', 'upstream_capacity'],
  [400, '{"error":{"code":400,"message":"bad"}}', 'invalid_request_error'],
  [403, '', 'service_unavailable'],
  [404, '', 'model_unavailable'],
] as const)('ERR-9 a count: %i %s is %s', async ([status, body, code]) => {
  expect(await thrown({ status, body })).toBe(code);
});
