import { expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { pricesOf, readError, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { penniless, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const poor = await another(penniless);
const { embeddings, moderations } = sdkFor(gateway);

const SMALL = 'text-embedding-3-small';
const ADA = 'text-embedding-ada-002';
const MODERATION = 'omni-moderation-latest';

const priceOf = async (model: string, tokens: number): Promise<bigint> =>
  (await pricesOf(gateway, model))({ prompt_tokens: tokens, completion_tokens: 0 });

const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, ...headers },
    body: JSON.stringify(body),
  });

test.each<[model: string, dimensions: number]>([
  [SMALL, 1_536],
  ['text-embedding-3-large', 3_072],
  [ADA, 1_536],
])('EMB-1 the SDK gets the floats of %s, sent as base64, and pays for the tokens', async (model, length) => {
  const { result, spent } = await spentBy(gateway, () => embeddings.create({ model, input: 'The quick brown fox' }));
  expect(vendor.requests[0]?.body).toEqual({ model, input: 'The quick brown fox', encoding_format: 'base64' });
  expect(result).toMatchObject({ object: 'list', model, data: [{ object: 'embedding', index: 0 }] });
  const [{ embedding } = { embedding: [] }] = result.data;
  expect(embedding).toHaveLength(length);
  expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBe(await priceOf(model, result.usage.prompt_tokens));
});

test('EMB-1 float and base64 contain the same numbers, in the requested dimensions', async () => {
  const params = { model: SMALL, input: 'fox', dimensions: 64 };
  const floats = await embeddings.create({ ...params, encoding_format: 'float' });
  const decoded = await embeddings.create(params);
  expect(decoded.data[0]?.embedding).toEqual(floats.data[0]?.embedding.map(Math.fround));
  const raw = await embeddings.create({ ...params, encoding_format: 'base64' });
  expect(Buffer.from(String(raw.data[0]?.embedding), 'base64')).toHaveLength(64 * 4);
});

test.each<[string, string[] | number[] | number[][], number, number]>([
  ['several texts', ['one', 'two', 'three'], 3, 3],
  ['one text of tokens', [1, 2, 3, 4], 1, 4],
  [
    'several texts of tokens',
    [
      [1, 2, 3],
      [4, 5],
    ],
    2,
    5,
  ],
])(
  'EMB-1 an input of %s gets one vector per text, in order, and pays for all tokens',
  async (_what, input, count, tokens) => {
    const { result, spent } = await spentBy(gateway, () => embeddings.create({ model: SMALL, input, dimensions: 8 }));
    expect(result.data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(new Set(result.data.map(({ embedding }) => String(embedding))).size).toBe(count);
    expect(result.usage.prompt_tokens).toBeGreaterThanOrEqual(tokens);
    expect(spent).toBe(await priceOf(SMALL, result.usage.prompt_tokens));
  },
);

test("BILL-15 the receipt is in the headers, and the body equals the provider's", async () => {
  vendor.next({ claimedUsage: { input: 7 } });
  const { result: response, spent } = await spentBy(gateway, () =>
    post('/v1/embeddings', { model: SMALL, input: 'fox', dimensions: 2 }),
  );
  expect(await response.json()).toEqual({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [expect.any(Number), expect.any(Number)] }],
    model: SMALL,
    usage: { prompt_tokens: 7, total_tokens: 7 },
  });
  expect(parseUsd(response.headers.get('x-service-cost-usd') ?? '')).toBe(spent);
  expect(parseUsd(response.headers.get('x-service-balance-usd') ?? '')).toBe((await gateway.account()).balance);
  expect(spent).toBe(await priceOf(SMALL, 7));
});

const withExtras: readonly (readonly [path: string, body: object, sent: object, ignored: readonly string[]])[] = [
  [
    '/v1/embeddings',
    { model: SMALL, input: 'fox', dimensions: null, truncate: 'END', input_type: 'query' },
    { model: SMALL, input: 'fox' },
    ['input_type', 'truncate'],
  ],
  [
    '/v1/moderations',
    { input: [{ type: 'text', text: 'fox', language: 'en' }], metadata: { a: '1' }, model: null },
    { model: MODERATION, input: [{ type: 'text', text: 'fox' }] },
    ['input[].language', 'metadata'],
  ],
];

test.each(withExtras)('GEN-16 %s ignores and lists unknown fields', async (path, body, sent, ignored) => {
  const response = await post(path, body);
  expect([response.status, response.headers.get('x-service-ignored-parameters')]).toEqual([200, ignored.join(',')]);
  expect(vendor.requests[0]?.body).toEqual(sent);
  const id = response.headers.get('x-request-id');
  const receipt = await fetch(`${gateway.url}/api/usage/${id}`, {
    headers: { authorization: `Bearer ${gateway.apiKey}` },
  });
  expect(await receipt.json()).toMatchObject({ outcome: 'charged', ignored });
  const dry = await post(path, body, { 'x-service-dry-run': 'true' });
  expect([dry.status, dry.headers.get('x-service-ignored-parameters')]).toEqual([200, ignored.join(',')]);
  expect((await post(path, sent)).headers.has('x-service-ignored-parameters')).toBe(false);
});

test.each(withExtras)(
  'GEN-16 %s rejects unknown fields if parameters are required',
  async (path, body, sent, ignored) => {
    const required = { 'x-service-require-parameters': 'true' };
    const { result, spent } = await spentBy(gateway, () => post(path, body, required));
    expect([result.status, (await readError(result)).param, spent]).toEqual([400, ignored[0], 0n]);
    expect(vendor.requests).toEqual([]);
    expect((await post(path, sent, required)).status).toBe(200);
    const perhaps = await post(path, sent, { 'x-service-require-parameters': 'perhaps' });
    expect([perhaps.status, (await readError(perhaps)).param]).toEqual([400, 'x-service-require-parameters']);
  },
);

test('BILL-7 an implausible count is charged up to the largest input', async () => {
  vendor.next({ claimedUsage: { input: 1_000_000 } });
  const { spent } = await spentBy(gateway, () => post('/v1/embeddings', { model: SMALL, input: ['a', 'b'] }));
  expect(spent).toBe(await priceOf(SMALL, 2 * 8_192));
});

test.each<[string, string, object, string, number]>([
  ['EMB-1', 'dimensions of ada-002', { model: ADA, dimensions: 256 }, 'dimensions', 0],
  ['EMB-1', 'a mixed input', { input: ['a', 1] }, 'input', 0],
  ['CHAT-13', 'too many tokens', { input: [[1], Array(8_193).fill(7)] }, 'input[1]', 0],
  ['CHAT-13', 'too long a text', { input: 'word '.repeat(9_000) }, 'input', 1],
])('%s %s is 400 with its field, free of charge', async (_rule, _what, body, param, calls) => {
  const { result: response, spent } = await spentBy(gateway, () =>
    post('/v1/embeddings', { model: SMALL, input: 'fox', ...body }),
  );
  expect([response.status, await readError(response)]).toMatchObject([400, { param }]);
  expect([vendor.requests.length, spent]).toEqual([calls, 0n]);
});

/** Source: https://developers.openai.com/api/docs/guides/moderation */
const categories = [
  ...['harassment', 'harassment/threatening', 'hate', 'hate/threatening', 'illicit', 'illicit/violent', 'self-harm'],
  ...['self-harm/instructions', 'self-harm/intent', 'sexual', 'sexual/minors', 'violence', 'violence/graphic'],
];

test('MOD-1 the SDK gets a result for each text in order, with all categories, at the price of 0', async () => {
  const input = ['hello', 'how to make bombs', 'I hate you'];
  const { result, spent } = await spentBy(gateway, () => moderations.create({ model: MODERATION, input }));
  const { results } = result;
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true, true]);
  for (const verdict of results) {
    for (const { length, ...each } of [verdict.categories, verdict.category_scores].map(Object)) {
      expect([length, Object.keys(each).toSorted()]).toEqual([undefined, categories]);
    }
  }
  expect(results[2]?.categories).toMatchObject({ hate: true, harassment: true, violence: false });
  expect(results[2]?.category_scores.hate).toBeGreaterThan(0.5);
  expect(vendor.requests[0]?.body).toEqual({ model: MODERATION, input });
  expect(spent).toBe(0n);
});

test('BILL-1, MOD-1 a hold of 0 is open during the provider call, and the receipt has 0', async () => {
  const gate = vendor.gate();
  const pending = post('/v1/moderations', { model: MODERATION, input: 'hello' });
  await gate.waitFor(1);
  expect(await gateway.account()).toMatchObject({ openHolds: 1, held: 0n });
  gate.open();
  const { status, headers } = await pending;
  expect([status, headers.get('x-service-cost-usd')]).toEqual([200, '0']);
  expect((await gateway.untilSettled()).openHolds).toBe(0);
});

test('AUTH-4 a price of 0 still needs a hold, so an empty balance is 402', async () => {
  const pending = sdkFor(poor).moderations.create({ model: MODERATION, input: 'hello' });
  await expect(pending).rejects.toMatchObject({ status: 402, code: 'insufficient_balance' });
  expect(vendor.requests).toHaveLength(0);
});

test('GEN-11 an image in a moderation is rejected with its field', async () => {
  const image = { type: 'image_url' as const, image_url: { url: 'https://images.test/a.png' } };
  const pending = moderations.create({ model: MODERATION, input: [{ type: 'text', text: 'hello' }, image] });
  await expect(pending).rejects.toMatchObject({ status: 400, param: 'input[1].image_url.url' });
  expect(vendor.requests).toHaveLength(0);
});
