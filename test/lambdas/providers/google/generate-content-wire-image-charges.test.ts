import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { sniffImage } from '../../../../lambdas/core/image-type.ts';
import { eventsIn } from '../openai/stream-reading.ts';
import { type ImageGateway, startImageGateway } from './image-gateway.ts';

const MODEL = 'gemini-nano-banana-2.1';
/** 100 prompt tokens, 50 of text and 30 of thoughts, in addition to the 1,120 of the image. */
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

const link = /^(.+)\n\n!\[image\]\(https:\/\/media\.example\/media\/(\d{10}-[0-9a-f]{32})\)$/s;

const errorIn = (text: string): unknown => JSON.parse(text).error?.code;

test('CHAT-12, BILL-3 a chat completion has text and an image link, each charged at its price', async () => {
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

test.for([
  ['plain', { action: 'generateContent' }],
  ['events', { action: 'streamGenerateContent', query: 'alt=sse' }],
  ['one array', { action: 'streamGenerateContent' }],
] as const)('CHAT-12, GEM-2 the native format has the same charge: %s', async ([, how]) => {
  const { result, picos } = await native(`Draw a fox ${COUNTED}`, how);
  expect([result.status, picos]).toEqual([200, CHARGE]);
  expect(result.text).toContain('"mimeType":"image/png"');
  expect(gateway.media.files.size).toBe(0);
});

test('BILL-14 an image that cannot be stored is 503 and uncharged', async () => {
  gateway.media.failing = true;
  const { result, picos } = await chat('Draw a fox');
  expect([result.status, errorIn(result.text), picos]).toEqual([503, 'service_unavailable', 0n]);
  expect(result.headers['retry-after']).toBe('30');
});

test('BILL-14 a stream whose image cannot be stored is uncharged and ends with an error event', async () => {
  gateway.media.failing = true;
  const { result, picos } = await chat('Draw a fox', { stream: true });
  const events = eventsIn(result.text);
  expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ error: { code: 'service_unavailable' } });
  expect([result.status, events.includes('[DONE]'), picos]).toEqual([200, false, 0n]);
});

test('GEM-2 an event of 8 MB passes completely', async () => {
  const { result, picos } = await native(`Draw [[image-bytes 6000000]] ${COUNTED}`, {
    action: 'streamGenerateContent',
    query: 'alt=sse',
  });
  // A pattern that backtracks over 8 MB can exceed the stack.
  const [data = ''] = result.text.split('"data":"')[1]?.split('"') ?? [];
  expect(Buffer.from(data, 'base64').length).toBeGreaterThanOrEqual(6_000_000);
  expect(result.text).toContain('"finishReason":"STOP"');
  expect(picos).toBe(CHARGE);
});

test('IMG-1, IMG-6 the image endpoint uses the same models, and links their images', async () => {
  const { result, picos } = await gateway.spentBy(() =>
    gateway.ask(
      { path: '/v1/images/generations', body: { model: MODEL, prompt: `A fox ${COUNTED}`, size: '2K' } },
      'images',
    ),
  );
  const { data } = z.object({ data: z.tuple([z.object({ url: z.string() })]) }).parse(JSON.parse(result.text));
  expect(gateway.media.files.has(data[0].url.split('/').at(-1) ?? '')).toBe(true);
  expect(gateway.simulator.requests[0]?.body).toMatchObject({ generationConfig: { imageConfig: { imageSize: '2K' } } });
  // The usage reports 1,170 output tokens besides reasoning. A 2K image has 1,680, so all of them count as image.
  expect(picos).toBe(100n * 1_500_000n + 30n * 7_500_000n + 1_170n * 30_000_000n);
});
