import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { sniffImage } from '../../../../lambdas/core/images/image-type.ts';
import { eventsIn } from '../openai/stream-reading.ts';
import { type ImageGateway, startImageGateway } from './image-gateway.ts';

const MODEL = 'gemini-nano-banana-2.1';
/** 100 prompt tokens, 50 of text and 30 of thoughts, beside the 1,120 of the image. */
const COUNTED = '[[usage-prompt 100]] [[tokens 1200]] [[reasoning 30]]';
/** At 1.5, 7.5 and 30 USD per million. */
const CHARGE = 100n * 1_500_000n + 80n * 7_500_000n + 1_120n * 30_000_000n;

let gateway: ImageGateway;

beforeAll(async () => {
  gateway = await startImageGateway();
});
afterEach(() => {
  gateway.simulator.reset();
  gateway.media.files.clear();
  gateway.media.failing = false;
});
afterAll(() => gateway.simulator.stop());

const chat = (content: string, more: object = {}) =>
  gateway.spentBy(() =>
    gateway.ask({
      path: '/v1/chat/completions',
      body: { model: MODEL, messages: [{ role: 'user', content }], ...more },
    }),
  );

interface Native {
  readonly config?: object;
  readonly action?: string;
  readonly query?: string;
}

const native = (text: string, { config, action = 'generateContent', query }: Native = {}) =>
  gateway.spentBy(() =>
    gateway.ask({
      path: `/v1beta/models/${MODEL}:${action}`,
      ...(query === undefined ? {} : { query }),
      body: { contents: [{ role: 'user', parts: [{ text }] }], ...(config ? { generationConfig: config } : {}) },
    }),
  );

const completion = z.object({
  choices: z.tuple([z.object({ message: z.object({ content: z.string() }), finish_reason: z.string() })]),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }),
});

const chunk = z.object({
  choices: z.tuple([z.object({ delta: z.object({ content: z.string().optional() }) })]),
});

const streamedText = (events: readonly string[]): string =>
  events.map((data) => chunk.parse(JSON.parse(data)).choices[0].delta.content ?? '').join('');

const link = /^(.+)\n\n!\[image\]\(https:\/\/media\.example\/media\/(\d{10}-[0-9a-f]{32})\)$/s;

const errorIn = (text: string): unknown => JSON.parse(text).error?.code;

test('CHAT-12, BILL-3 a chat answer holds its text and the link of its image, charged each at its price', async () => {
  const { result, picos } = await chat(`Draw a fox ${COUNTED}`, { max_tokens: 4_000 });
  const { choices, usage } = completion.parse(JSON.parse(result.text));
  const [, said, name = ''] = link.exec(choices[0].message.content) ?? [];
  expect(said).toMatch(/^This is a simulated answer/);
  expect(sniffImage(gateway.media.files.get(name)?.bytes ?? new Uint8Array())).toBe('image/png');
  expect([choices[0].finish_reason, usage]).toEqual(['stop', { prompt_tokens: 100, completion_tokens: 1_200 }]);
  expect([result.status, picos]).toEqual([200, CHARGE]);
  expect(result.headers['x-service-cost-usd']).toBe('0.03435');
  expect(gateway.simulator.requests[0]?.body).toMatchObject({
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], maxOutputTokens: 4_000 },
  });
});

test('CHAT-12, CHAT-11 a streamed chat says the same and costs the same', async () => {
  const { result, picos } = await chat(`Draw a fox ${COUNTED}`, { stream: true });
  const events = eventsIn(result.text);
  const [, said, name = ''] = link.exec(streamedText(events.slice(0, -1))) ?? [];
  expect(said).toMatch(/^This is a simulated answer/);
  expect(gateway.media.files.has(name)).toBe(true);
  expect(events.at(-1)).toBe('[DONE]');
  expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({ usage: { completion_tokens: 1_200, cost: '0.03435' } });
  expect(picos).toBe(CHARGE);
});

test.for([
  ['plain', { action: 'generateContent' }],
  ['events', { action: 'streamGenerateContent', query: 'alt=sse' }],
  ['one array', { action: 'streamGenerateContent' }],
] as const)('CHAT-12, GEM-2 the native format is charged alike: %s', async ([, how]) => {
  const { result, picos } = await native(`Draw a fox ${COUNTED}`, how);
  expect([result.status, picos]).toEqual([200, CHARGE]);
  expect(result.text).toContain('"mimeType":"image/png"');
  expect(gateway.media.files.size).toBe(0);
});

test('IMG-8 a larger size of the native format is charged by its own tokens', async () => {
  const config = { imageConfig: { imageSize: '4K', aspectRatio: '16:9' } };
  const { result, picos } = await native('Draw [[usage-prompt 100]] [[tokens 2600]] [[reasoning 0]]', { config });
  expect(result.status).toBe(200);
  expect(picos).toBe(100n * 1_500_000n + 80n * 7_500_000n + 2_520n * 30_000_000n);
});

test('CHAT-12 a model that only talks is charged for its words', async () => {
  const { result, picos } = await chat('Draw [[image-fails]] [[usage-prompt 100]] [[tokens 40]] [[reasoning 0]]');
  const { choices } = completion.parse(JSON.parse(result.text));
  expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.not.stringContaining('](') } });
  expect(picos).toBe(100n * 1_500_000n + 40n * 7_500_000n);
});

test.for([false, true])('CHAT-14 an image that is blocked is 400 and uncharged; stream: %s', async (stream) => {
  const { result, picos } = await chat('Draw [[image-blocked]]', { stream });
  expect([result.status, errorIn(result.text), picos]).toEqual([400, 'content_filter', 0n]);
  expect(gateway.media.files.size).toBe(0);
});

test.for([
  ['[[image-html]]', 502, 'upstream_error'],
  ['[[image-empty]]', 502, 'upstream_error'],
  ['[[image-broken]]', 502, 'upstream_error'],
] as const)('CHAT-12, BILL-2 an image that is none costs nothing: %s', async ([marker, status, code]) => {
  const { result, picos } = await chat(`Draw ${marker}`);
  expect([result.status, errorIn(result.text), picos]).toEqual([status, code, 0n]);
});

test('BILL-14 an image that cannot be stored is 503 and uncharged', async () => {
  gateway.media.failing = true;
  const { result, picos } = await chat('Draw a fox');
  expect([result.status, errorIn(result.text), picos]).toEqual([503, 'service_unavailable', 0n]);
  expect(result.headers['retry-after']).toBe('30');
});

test('BILL-14 in a stream it is an error event, without [DONE] and uncharged', async () => {
  gateway.media.failing = true;
  const { result, picos } = await chat('Draw a fox', { stream: true });
  const events = eventsIn(result.text);
  expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ error: { code: 'service_unavailable' } });
  expect([result.status, events.includes('[DONE]'), picos]).toEqual([200, false, 0n]);
});

test.for(['alt=sse', 'alt=json'])('GEM-2 an event of 8 MB passes whole: %s', async (query) => {
  const { result, picos } = await native(`Draw [[image-bytes 6000000]] ${COUNTED}`, {
    action: 'streamGenerateContent',
    query,
  });
  const [, data = ''] = /"data":"([^"]+)"/.exec(result.text) ?? [];
  expect(Buffer.from(data, 'base64').length).toBeGreaterThanOrEqual(6_000_000);
  expect(result.text).toContain('"finishReason":"STOP"');
  if (query === 'alt=json') expect(JSON.parse(result.text)).toBeInstanceOf(Array);
  expect(picos).toBe(CHARGE);
});

test('BILL-17 the tokens of a prompt are counted for a model that draws, too', async () => {
  const { result, picos } = await native('The quick brown fox', { action: 'countTokens' });
  expect([result.status, picos]).toEqual([200, 0n]);
  expect(JSON.parse(result.text)).toMatchObject({ totalTokens: 4 });
});

test('GEN-11 what only models that draw take is refused on the others, before anything is sent', async () => {
  const { result } = await gateway.spentBy(() =>
    gateway.ask({
      path: '/v1beta/models/gemini-3.8-flash:generateContent',
      body: { contents: [{ parts: [{ text: 'x' }] }], generationConfig: { imageConfig: { imageSize: '1K' } } },
    }),
  );
  expect([result.status, JSON.parse(result.text).error.param]).toEqual([400, 'generationConfig.imageConfig']);
  expect(gateway.simulator.requests).toHaveLength(0);
});

test('IMG-1, IMG-6 the endpoint for images draws with the same models, and links what they draw', async () => {
  const { result, picos } = await gateway.spentBy(() =>
    gateway.ask(
      { path: '/v1/images/generations', body: { model: MODEL, prompt: `A fox ${COUNTED}`, size: '2K' } },
      'images',
    ),
  );
  const { data } = z.object({ data: z.tuple([z.object({ url: z.string() })]) }).parse(JSON.parse(result.text));
  expect(gateway.media.files.has(data[0].url.split('/').at(-1) ?? '')).toBe(true);
  expect(gateway.simulator.requests[0]?.body).toMatchObject({ generationConfig: { imageConfig: { imageSize: '2K' } } });
  // 1,170 tokens are claimed in all, fewer than an image of that size has.
  expect(picos).toBe(100n * 1_500_000n + 30n * 7_500_000n + 1_170n * 30_000_000n);
});

test.for([
  ['[[image-blocked]]', 400, 'content_filter'],
  ['[[image-fails]]', 502, 'upstream_error'],
  ['[[image-html]]', 502, 'upstream_error'],
  ['[[image-broken]]', 502, 'upstream_error'],
] as const)('IMG-7 there, too, an image that fails costs nothing: %s', async ([marker, status, code]) => {
  const body = { model: MODEL, prompt: `A fox ${marker}` };
  const { result, picos } = await gateway.spentBy(() =>
    gateway.ask({ path: '/v1/images/generations', body }, 'images'),
  );
  expect([result.status, errorIn(result.text), picos]).toEqual([status, code, 0n]);
});
