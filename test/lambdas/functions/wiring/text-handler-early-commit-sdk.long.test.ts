import http from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSilentService, type Heard, type Silence } from './silent-service.ts';
import { type CustomerName, customers } from './silent-vendor.ts';

/** Response that the server sends, piece by piece, to every client. */
let played: Heard | undefined;
const server = http.createServer((request, response) => {
  request.resume();
  response.writeHead(played?.head?.statusCode ?? 500, { ...played?.head?.headers });
  for (const { text } of played?.pieces ?? []) response.write(text);
  response.end();
});
let url = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  url = `http://127.0.0.1:${address.port}`;
});
afterAll(() => server.close());

const play = async (name: CustomerName, vendor: Silence): Promise<Heard> => {
  const service = await createSilentService();
  const { heard, done } = await service.ask(customers[name], { seconds: 131, ...vendor });
  await service.pass(131);
  await done;
  expect(heard.head?.statusCode).toBe(200);
  return heard;
};

const openai = () => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'key', maxRetries: 0 });
const anthropic = () => new Anthropic({ baseURL: url, apiKey: 'key', maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } });

const messages = [{ role: 'user' as const, content: 'Hello' }];
const asked = { model: 'gemini-3.8-flash', contents: 'Hello' };
const file = () => new File(['ID3'], 'a.mp3');
const picture = () => new File(['PNG'], 'a.png', { type: 'image/png' });

const all = async (events: AsyncIterable<unknown>): Promise<unknown> => {
  const seen: unknown[] = [];
  for await (const event of events) seen.push(event);
  return seen;
};

/** Each request, made and read by the official client of its provider. */
const clients: Partial<Record<CustomerName, () => Promise<unknown>>> = {
  chat: () => openai().chat.completions.create({ model: 'm', messages }),
  'chat stream': async () => all(await openai().chat.completions.create({ model: 'm', messages, stream: true })),
  responses: () => openai().responses.create({ model: 'm', input: 'Hello' }),
  'responses stream': () => openai().responses.stream({ model: 'm', input: 'Hello' }).finalResponse(),
  messages: () => anthropic().messages.create({ model: 'm', max_tokens: 9, messages }),
  'messages stream': () => anthropic().messages.stream({ model: 'm', max_tokens: 9, messages }).finalMessage(),
  generateContent: () => google().models.generateContent(asked),
  'streamGenerateContent sse': async () => all(await google().models.generateContentStream(asked)),
  embeddings: () => openai().embeddings.create({ model: 'm', input: 'Hello', encoding_format: 'float' }),
  moderations: () => openai().moderations.create({ model: 'm', input: 'Hello' }),
  images: () => openai().images.generate({ model: 'm', prompt: 'A boat' }),
  edits: () => openai().images.edit({ model: 'm', prompt: 'A boat', image: picture() }),
  transcription: () => openai().audio.transcriptions.create({ model: 'm', file: file() }),
};

const names = Object.keys(clients) as CustomerName[];
const words: Partial<Record<CustomerName, RegExp>> = {
  chat: /Good day/,
  'chat stream': /"finish_reason":"stop"/,
  responses: /Grüße/,
  'responses stream': /completed/,
  messages: /Good day/,
  'messages stream': /end_turn/,
  generateContent: /day\./,
  'streamGenerateContent sse': /STOP/,
  embeddings: /0\.5/,
  moderations: /flagged/,
  images: /b64_json/,
  edits: /b64_json/,
  transcription: /Hi/,
};

test.for(names)('ERR-6 CHAT-11 %s that started early is read by the official client', async (name) => {
  played = await play(name, {});
  expect(JSON.stringify(await clients[name]?.())).toMatch(words[name] ?? /never/);
});

const failures: readonly (readonly [string, Silence])[] = [
  ['a failure', { status: 500, body: '{"error":{"message":"It broke."}}' }],
  ['a refusal', { status: 400, body: '{"error":{"message":"No such thing.","param":"prompt"}}' }],
  ['capacity', { status: 429, body: '{"error":{"message":"Slow down."}}' }],
];

test.for(names.flatMap((name) => failures.map(([what, vendor]) => [what, name, vendor] as const)))(
  'ERR-6 CHAT-11 GEN-3 after %s of %s that started early the official client raises',
  async ([, name, vendor]) => {
    played = await play(name, vendor);
    await expect(clients[name]?.()).rejects.toThrow();
  },
);
