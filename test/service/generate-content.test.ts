import { ThinkingLevel } from '@google/genai';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { textModelOf } from '../../lambdas/core/catalog/text-model.ts';
import { pricesOf, spentBy } from '../support/gateway-chat.ts';
import {
  apiErrorOf,
  asking,
  countsOf,
  GEMINI,
  googleFor,
  postGoogle,
  readGoogleError,
} from '../support/google-client.ts';
import { vendorKey } from '../support/vendor-environment.ts';
import { penniless, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const poor = await another(penniless);
const priceOf = await pricesOf(gateway, GEMINI);
const { models, chats } = googleFor(gateway);

test('GEM-1, GEM-3 thinking and sampling reach the provider, and thoughts are part of the output', async () => {
  const config = {
    temperature: 0.4,
    topP: 0.9,
    systemInstruction: 'Be brief',
    thinkingConfig: { thinkingLevel: ThinkingLevel.HIGH, includeThoughts: true },
  };
  const { result, spent } = await spentBy(gateway, () =>
    models.generateContent({ model: GEMINI, contents: 'Think', config }),
  );
  const { systemInstruction: text, ...generationConfig } = config;
  expect(vendor.requests[0]?.body).toMatchObject({ systemInstruction: { parts: [{ text }] }, generationConfig });
  expect(result.candidates?.[0]?.content?.parts?.[0]).toMatchObject({ thought: true });
  expect(result.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
  expect(spent).toBe(priceOf(countsOf(result.usageMetadata)));
});

test('GEM-1 a body with the field names of the .proto file is validated and sent in camelCase', async () => {
  const response = await postGoogle(gateway, 'generateContent', {
    contents: [{ role: 'user', parts: [{ text: 'Say hello' }] }],
    system_instruction: { parts: [{ text: 'Be brief' }] },
    generation_config: { max_output_tokens: 4, stop_sequences: ['zebra'], thinking_config: { thinking_budget: 1 } },
  });
  expect(await response.json()).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] });
  expect(vendor.requests[0]?.body).toMatchObject({
    systemInstruction: { parts: [{ text: 'Be brief' }] },
    generationConfig: { maxOutputTokens: 4, stopSequences: ['zebra'], thinkingConfig: { thinkingBudget: 1 } },
  });
});

const extras = {
  contents: [
    { role: 'user', parts: [{ text: 'Say hello', media_processing: {} }] },
    { role: 'model', parts: [{ text: 'Hello', speech_metadata: {} }], finished: true },
    { role: 'user', parts: [{ text: 'And again', thought_signature: null }] },
  ],
  generation_config: {
    max_output_tokens: 100,
    temperature: 0.5,
    audio_timestamp: true,
    presence_penalty: 1,
    seed: null,
  },
  model_armor_config: { promptTemplateName: 'a' },
};
const kept = {
  contents: [
    { role: 'user', parts: [{ text: 'Say hello' }] },
    { role: 'model', parts: [{ text: 'Hello' }] },
    { role: 'user', parts: [{ text: 'And again' }] },
  ],
  generationConfig: { maxOutputTokens: 100, temperature: 0.5 },
};
const ignored = [
  'contents[].parts[].mediaProcessing',
  'generationConfig.audioTimestamp',
  'generationConfig.presencePenalty',
  'modelArmorConfig',
];
const listedIn = ({ headers }: Response) => headers.get('x-service-ignored-parameters');

test.each(['generateContent', 'streamGenerateContent'])(
  'GEN-16 %s ignores and lists unknown fields',
  async (action) => {
    const response = await postGoogle(gateway, action, extras);
    await response.text();
    expect([response.status, listedIn(response)]).toEqual([200, ignored.join(',')]);
    expect(vendor.requests[0]?.body).toEqual(kept);
    const receipt = await fetch(`${gateway.url}/api/usage/${response.headers.get('x-request-id')}`, {
      headers: { authorization: `Bearer ${gateway.apiKey}` },
    });
    expect(await receipt.json()).toMatchObject({ outcome: 'charged', ignored });
    const headers = { 'x-goog-api-key': gateway.apiKey, 'x-service-dry-run': 'true' };
    const [dry, plain] = await Promise.all(
      [extras, kept].map((body) => postGoogle(gateway, action, body, { headers })),
    );
    expect([dry && listedIn(dry), plain && listedIn(plain)]).toEqual([ignored.join(','), null]);
    expect(await dry?.json()).toEqual(await plain?.json());
  },
);

test('GEN-16 generateContent and countTokens reject unknown fields if parameters are required', async () => {
  const headers = { 'x-goog-api-key': gateway.apiKey, 'x-service-require-parameters': 'true' };
  for (const [action, body, at] of [
    ['generateContent', extras, ''],
    ['streamGenerateContent', extras, ''],
    ['countTokens', { generateContentRequest: extras }, 'generateContentRequest.'],
  ] as const) {
    const refused = await postGoogle(gateway, action, body, { headers });
    expect([refused.status, (await readGoogleError(refused)).param]).toEqual([400, `${at}${ignored[0]}`]);
  }
  expect(vendor.requests).toEqual([]);
  expect((await postGoogle(gateway, 'generateContent', kept, { headers })).status).toBe(200);
});

test('GEM-1, BILL-5 documents reach the provider, and a PDF is held at the whole context', async () => {
  const asBase64 = (text: string) => Buffer.from(text).toString('base64');
  const file = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
  const asked = (document: object) => ({
    contents: [{ role: 'user', parts: [{ text: 'What is it?' }, document] }],
    generationConfig: { maxOutputTokens: 100 },
  });
  const heldFor = async (body: object) => {
    const headers = { 'x-goog-api-key': gateway.apiKey, 'x-service-dry-run': 'true' };
    const dry = await postGoogle(gateway, 'generateContent', body, { headers });
    return Number(z.object({ hold_usd: z.string() }).parse(await dry.json()).hold_usd);
  };
  const pdf = file('application/pdf', asBase64('%PDF-1.7'));
  const text = file('text/plain', asBase64('The quick brown fox. '.repeat(100)));
  for (const document of [pdf, text]) {
    const named = asked({ inlineData: { ...document.inlineData, displayName: 'a' } });
    const response = await postGoogle(gateway, 'generateContent', named);
    expect([response.status, listedIn(response)]).toEqual([200, null]);
    expect(vendor.requests.at(-1)?.body).toEqual(asked(document));
  }
  const plain = await heldFor(asked({ text: 'The quick brown fox. '.repeat(100) }));
  expect(await heldFor(asked(text))).toBeLessThan(plain * 1.1);
  expect(await heldFor(asked(text))).toBeGreaterThanOrEqual(plain);
  expect(await heldFor(asked(pdf))).toBe(await heldFor(asked(file('audio/mp3', 'AAAA'))));
});

test('GEM-4 the SDK fetches the rest of a long response, and each part is charged', async () => {
  const priceOfArgon = await pricesOf(gateway, 'gemini-4-argon');
  const { result, spent } = await spentBy(gateway, () =>
    models.generateContent({
      model: 'gemini-4-argon',
      contents: '[[words 33000]] [[reasoning 0]]',
      config: { maxOutputTokens: 40_000 },
    }),
  );
  expect(result.candidates?.[0]?.finishReason).toBe('STOP');
  expect(vendor.requests).toHaveLength(2);
  expect(vendor.requests[1]?.body).toMatchObject({ continuationToken: expect.any(String) });
  expect(result.text?.split(' ')).toHaveLength(33_000);
  expect(spent).toBe(priceOfArgon(countsOf(result.usageMetadata)));
});

test('GEM-4 streamed calls need their thought signature when they are sent back', async () => {
  const parametersJsonSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const tools = [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema }] }];
  const question = { role: 'user', parts: [{ text: 'How is the weather in Paris and in Tokyo?' }] };
  const ask = (contents: object[]) => ({ model: GEMINI, contents, config: { tools } });
  const chunks = await Array.fromAsync(await models.generateContentStream(ask([question])));
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  expect(parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined)).toHaveLength(1);
  const results = parts.map(({ functionCall: { id, name, args } = {} }) => ({
    functionResponse: { id, name, response: { output: `${args?.city}: 21 degrees` } },
  }));
  const turn = (said: object[], role = 'user') =>
    ask([question, { role: 'model', parts: said }, { role, parts: results }]);
  for (const role of ['user', 'function', 'tool']) {
    const { text } = await models.generateContent(turn(parts, role));
    expect(text).toBe('According to the tool: Paris: 21 degrees; Tokyo: 21 degrees');
  }
  const bare = parts.map(({ functionCall }) => ({ functionCall }));
  const { result: error, spent } = await spentBy(gateway, () => apiErrorOf(models.generateContent(turn(bare))));
  expect(error).toMatchObject({ http: 400, status: 'INVALID_ARGUMENT' });
  expect(error.message).toContain('missing a thought_signature');
  expect(spent).toBe(0n);
});

test('CHAT-3 two candidates are an ApiError with 422 before the provider call', async () => {
  const pending = models.generateContent({ model: GEMINI, contents: 'hello', config: { candidateCount: 2 } });
  const param = 'generationConfig.candidateCount';
  expect(await apiErrorOf(pending)).toMatchObject({ http: 422, code: 'unprocessable_entity', param });
  expect(vendor.requests).toHaveLength(0);
});

test('GEM-4 a chat of the SDK keeps its turns, plain and streamed', async () => {
  const chat = chats.create({ model: GEMINI });
  const { result, spent } = await spentBy(gateway, async () => {
    const first = await chat.sendMessage({ message: 'My name is Ada' });
    const second = await Array.fromAsync(await chat.sendMessageStream({ message: 'What is my name?' }));
    return [first, second.at(-1)!] as const;
  });
  expect(vendor.requests[1]?.body).toMatchObject({
    contents: [
      { role: 'user', parts: [{ text: 'My name is Ada' }] },
      result[0].candidates?.[0]?.content ?? {},
      { role: 'user', parts: [{ text: 'What is my name?' }] },
    ],
  });
  expect(spent).toBe(result.reduce((sum, { usageMetadata }) => sum + priceOf(countsOf(usageMetadata)), 0n));
});

test('GEM-2 without alt, a stream is one JSON array of all chunks; an unknown alt is 400', async () => {
  const response = await postGoogle(gateway, 'streamGenerateContent', asking('Say hello'));
  const chunks = z.array(z.looseObject({})).parse(await response.json());
  expect(chunks).toHaveLength(vendor.requests[0]?.eventsSent ?? 0);
  expect(vendor.requests[0]?.query.get('alt')).toBe('sse');
  const refused = await postGoogle(gateway, 'streamGenerateContent', asking('hello'), { query: 'alt=proto' });
  expect([refused.status, (await readGoogleError(refused)).param]).toEqual([400, 'alt']);
  expect(vendor.requests).toHaveLength(1);
});

test.each<[string, (key: string) => { headers: Record<string, string>; query?: string }]>([
  ['?key=', (key) => ({ headers: {}, query: `key=${key}` })],
  ['x-provider-api-key', (key) => ({ headers: { 'x-provider-api-key': key } })],
  ['x-goog-api-key', (key) => ({ headers: { 'x-goog-api-key': key }, query: 'key=sk-service-unknown' })],
])('AUTH-3 the key in %s works for every action in both versions and is not forwarded', async (_form, send) => {
  for (const version of ['v1', 'v1beta'] as const) {
    for (const action of ['generateContent', 'streamGenerateContent', 'countTokens']) {
      const response = await postGoogle(gateway, action, asking('hello'), { version, ...send(gateway.apiKey) });
      await response.text();
      expect([version, action, response.status]).toEqual([version, action, 200]);
    }
  }
  for (const { headers, query, bytes } of vendor.requests) {
    expect([headers['x-goog-api-key'], query.get('key')]).toEqual([vendorKey, null]);
    expect(JSON.stringify(headers) + Buffer.from(bytes).toString()).not.toContain(gateway.apiKey);
  }
});

test('BILL-17 the SDK counts tokens at the provider, free of charge and without a balance', async () => {
  const contents = 'How many tokens are these?';
  const { totalTokens } = await googleFor(poor).models.countTokens({ model: GEMINI, contents });
  expect(totalTokens).toBeGreaterThan(3);
  expect(vendor.requests[0]?.path).toBe(`/v1beta/models/${GEMINI}:countTokens`);
  expect(await poor.account()).toMatchObject({ balance: 0n, openHolds: 0 });
  const whole = { generateContentRequest: { model: `models/${GEMINI}`, ...asking(contents) } };
  expect(await (await postGoogle(gateway, 'countTokens', whole)).json()).toMatchObject({ totalTokens });
});

test('CAT-7 the SDK lists the generateContent models page by page, and gets each by its name', async () => {
  const callable = loadCatalog(catalogData)
    .list(gateway.now())
    .filter((model) => textModelOf(model)?.protocols.includes('generate_content'))
    .map(({ id }) => `models/${id}`);
  const listed = await Array.fromAsync(await models.list({ config: { pageSize: 2 } }));
  expect(listed.map(({ name }) => name)).toEqual(callable);
  for (const model of listed) expect(await models.get({ model: model.name ?? '' })).toMatchObject({ ...model });
  await expect(models.get({ model: 'gpt-4.1-mini' })).rejects.toMatchObject({ status: 404 });
});
