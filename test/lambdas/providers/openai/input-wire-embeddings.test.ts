import { expect, test } from 'vitest';
import { createEmbeddingWire } from '../../../../lambdas/providers/openai/input-wire.ts';
import { embeddingList, playInput } from './input-wire-world.ts';
import { codeOf } from './stream-reading.ts';

const play = (played: Parameters<typeof playInput>[1]) => playInput(createEmbeddingWire, played);

const pretty = JSON.stringify(embeddingList, null, 2);
const counted = { input: 8, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

test('GEN-5 embeddings are one request with the provider’s name of the model', async () => {
  const { requests, answer } = await play({ body: pretty });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    url: 'https://vendor.test/v1/embeddings',
    headers: { authorization: 'Bearer sk-vendor-canary', accept: 'application/json' },
  });
  expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ model: 'vendor-name', input: 'Hi', dimensions: 2 });
  expect(answer).toEqual({ text: pretty.replace('"text-embedding-ada-002-v2"', '"alpha-1"'), usage: counted });
});

test('EMB-1 a response with the client’s model passes unchanged', async () => {
  const text = ` ${JSON.stringify({ ...embeddingList, model: 'alpha-1' })}\n`;
  expect((await play({ body: text })).answer?.text).toBe(text);
});

test('EMB-1 only the top-level model is replaced, wherever it is, or added', async () => {
  const { object, data, usage } = embeddingList;
  for (const body of [
    { model: 'theirs', object, data, usage },
    { object, data, usage: { ...usage, models: [], model: 'inner' }, model: 'theirs' },
    { object, model: 'theirs', data, usage: { ...usage, models: [], model: 'inner' } },
    { object, data: [...data, { object: 'embedding', index: 2, embedding: 'model]"' }], model: 'theirs]', usage },
    { object, data, usage },
  ]) {
    const { answer } = await play({ body: JSON.stringify(body) });
    expect(JSON.parse(answer?.text ?? '')).toEqual({ ...body, model: 'alpha-1' });
  }
});

test.for([undefined, null, {}, { prompt_tokens: '8' }, { prompt_tokens: -1 }, { total_tokens: 8 }])(
  'BILL-10 a usage of %j is not a usage',
  async (usage) => {
    expect((await play({ body: JSON.stringify({ ...embeddingList, usage }) })).answer?.usage).toBeUndefined();
  },
);

test.for([
  [
    { prompt_tokens: 0, total_tokens: 8 },
    { ...counted, totalDiffers: true },
  ],
  [
    { prompt_tokens: 8, total_tokens: 3 },
    { ...counted, totalDiffers: true },
  ],
  [{ prompt_tokens: 8, total_tokens: 0 }, counted],
  [{ prompt_tokens: 8 }, counted],
] as const)('BILL-11 a usage of %j counts the larger number', async ([usage, expected]) => {
  const { answer } = await play({ body: JSON.stringify({ ...embeddingList, usage }) });
  expect(answer?.usage).toEqual(expected);
});

test.for(['', '<html>', '[]', 'null', '{}', '{"data":{}}', pretty.slice(0, -1)])(
  'ERR-9 200 with %s is upstream_error',
  async (body) => {
    const { error, discarded } = await play({ body });
    expect([codeOf(error), discarded]).toEqual(['upstream_error', 1]);
  },
);

test.for([
  [400, { message: 'too long', param: 'input' }, 'invalid_request_error', 'input'],
  [400, { message: "This model's maximum context length is 8192 tokens" }, 'context_length_exceeded', 'input'],
  [200, { message: 'x', type: 'insufficient_quota' }, 'service_unavailable', null],
  [200, { message: 'maximum context length', type: 'invalid_request_error' }, 'context_length_exceeded', 'input'],
] as const)('ERR-3 and ERR-9 status %i with an error %j is %s', async ([status, error, code, param]) => {
  const played = await play({ status, body: JSON.stringify({ error }) });
  expect(played.error).toMatchObject({ code, param });
  expect(played.notices).toEqual(code === 'service_unavailable' ? ['vendor_refused_us openai'] : []);
});
