import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { textModelOf } from '../../lambdas/core/catalog/text-model.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway, vendorKey } from '../support/gateway.ts';
import { spentBy } from '../support/gateway-chat.ts';
import { apiErrorOf, asking, GEMINI, googleFor, postGoogle, readGoogleError } from '../support/google-client.ts';

let vendor: Simulator;
let gateway: TestGateway;
/** Of an account without money. */
let poor: TestGateway;

beforeAll(async () => {
  vendor = await startSimulator();
  [gateway, poor] = await Promise.all([
    startGateway({ vendorUrl: vendor.url }),
    startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '0' } }),
  ]);
});
afterAll(async () => {
  await Promise.all([gateway.stop(), poor.stop()]);
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const versions = ['v1', 'v1beta'] as const;
const WRONG = 'sk-service-unknown';

test.each<[string, (key: string) => { headers?: Record<string, string>; query?: string }]>([
  ['?key=', (key) => ({ headers: {}, query: `key=${key}` })],
  ['x-provider-api-key', (key) => ({ headers: { 'x-provider-api-key': key } })],
  ['x-goog-api-key', (key) => ({ headers: { 'x-goog-api-key': key } })],
  [
    'x-provider-api-key beside a wrong ?key=',
    (key) => ({ headers: { 'x-provider-api-key': key }, query: `key=${WRONG}` }),
  ],
  ['x-goog-api-key beside a wrong ?key=', (key) => ({ headers: { 'x-goog-api-key': key }, query: `key=${WRONG}` })],
])(
  'AUTH-3 the key in %s opens every action in both versions, and the vendor gets only its own',
  async (_form, send) => {
    for (const version of versions) {
      for (const action of ['generateContent', 'streamGenerateContent', 'countTokens']) {
        const response = await postGoogle(gateway, action, asking('hello'), { version, ...send(gateway.apiKey) });
        await response.text();
        expect([version, action, response.status]).toEqual([version, action, 200]);
      }
    }
    expect(vendor.requests).toHaveLength(6);
    for (const { headers, query, bytes } of vendor.requests) {
      expect([headers['x-goog-api-key'], query.get('key')]).toEqual([vendorKey, null]);
      expect(JSON.stringify(headers) + Buffer.from(bytes).toString()).not.toContain(gateway.apiKey);
    }
  },
);

test.each<[string, string, (key: string) => { headers: Record<string, string>; query?: string }]>([
  ['nothing', 'missing_api_key', () => ({ headers: {} })],
  ['an empty ?key=', 'missing_api_key', () => ({ headers: {}, query: 'key=' })],
  ['only a Bearer', 'missing_api_key', (key) => ({ headers: { authorization: `Bearer ${key}` } })],
  ['a wrong key', 'invalid_api_key', () => ({ headers: { 'x-goog-api-key': WRONG } })],
  [
    'a wrong header beside a good ?key=',
    'invalid_api_key',
    (key) => ({ headers: { 'x-provider-api-key': WRONG }, query: `key=${key}` }),
  ],
])('AUTH-3 %s is 401 %s', async (_what, code, send) => {
  for (const version of versions) {
    const sent = send(gateway.apiKey);
    const response = await postGoogle(gateway, 'generateContent', asking('hello'), { version, ...sent });
    expect(response.status).toBe(401);
    const error = await readGoogleError(response);
    expect(error).toMatchObject({ code, type: 'authentication_error', status: 'UNAUTHENTICATED' });
  }
  expect(vendor.requests).toHaveLength(0);
});

test('AUTH-4 the SDK raises an ApiError with our JSON for a wrong key and for an empty balance', async () => {
  const params = { model: GEMINI, contents: 'hello' };
  const wrong = googleFor({ url: gateway.url, apiKey: WRONG });
  expect(await apiErrorOf(wrong.models.generateContent(params))).toMatchObject({ http: 401, code: 'invalid_api_key' });
  for (const ask of [
    () => googleFor(poor).models.generateContent(params),
    () => googleFor(poor).models.generateContentStream(params),
  ]) {
    expect(await apiErrorOf(ask())).toMatchObject({
      http: 402,
      code: 'insufficient_balance',
      type: 'insufficient_balance',
      status: 'FAILED_PRECONDITION',
    });
  }
  expect(vendor.requests).toHaveLength(0);
});

test('BILL-17 the SDK counts tokens at the vendor, free of charge and without a balance', async () => {
  const { result, spent } = await spentBy(gateway, () =>
    googleFor(gateway).models.countTokens({ model: GEMINI, contents: 'How many tokens are these?' }),
  );
  expect(result.totalTokens).toBeGreaterThan(3);
  expect(vendor.requests[0]?.path).toBe(`/v1beta/models/${GEMINI}:countTokens`);
  expect(vendor.requests[0]?.body).toEqual({
    contents: [{ role: 'user', parts: [{ text: 'How many tokens are these?' }] }],
  });
  expect(spent).toBe(0n);
  const answer = await googleFor(poor).models.countTokens({ model: GEMINI, contents: 'How many tokens are these?' });
  expect(answer.totalTokens).toBe(result.totalTokens);
  expect((await poor.account()).openHolds).toBe(0);
});

test('BILL-17 a whole request can be counted, too, and what cannot be counted is 400', async () => {
  const whole = {
    generateContentRequest: {
      model: `models/${GEMINI}`,
      ...asking('hello'),
      systemInstruction: { parts: [{ text: 'Be brief' }] },
    },
  };
  const response = await postGoogle(gateway, 'countTokens', whole);
  expect(z.looseObject({ totalTokens: z.int().min(2) }).parse(await response.json())).toBeDefined();
  const both = await postGoogle(gateway, 'countTokens', { ...whole, ...asking('hello') });
  expect([both.status, (await readGoogleError(both)).param]).toEqual([400, 'contents']);
});

const catalog = loadCatalog(catalogData);
const callable = catalog
  .list(Date.now())
  .filter((model) => textModelOf(model)?.protocols.includes('generate_content'))
  .map(({ id }) => `models/${id}`);

test('CAT-7 the SDK lists the models that generate content, page by page, and gets each by its name', async () => {
  const { models } = googleFor(gateway);
  const listed = await Array.fromAsync(await models.list({ config: { pageSize: 2 } }));
  expect(listed.map(({ name }) => name)).toEqual(callable);
  expect(callable.length).toBeGreaterThan(2);
  for (const model of listed) {
    expect(await models.get({ model: model.name ?? '' })).toMatchObject({ ...model });
  }
  expect(listed.find(({ name }) => name === `models/${GEMINI}`)).toMatchObject({
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
  });
});

test('CAT-7 the models are at /v1beta/models, too, and one of another format is 404', async () => {
  const headers = { 'x-goog-api-key': gateway.apiKey };
  const response = await fetch(`${gateway.url}/v1beta/models`, { headers });
  const { models } = z.object({ models: z.array(z.looseObject({ name: z.string() })) }).parse(await response.json());
  expect(models.map(({ name }) => name)).toEqual(callable);
  await expect(googleFor(gateway).models.get({ model: 'gpt-4.1-mini' })).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('model_not_found'),
  });
});
