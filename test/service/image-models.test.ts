import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { allEvents, chunkSchema, postChat, readError, saying, sdkFor, spentBy } from '../support/gateway-chat.ts';
import { googleFor, postGoogle } from '../support/google-client.ts';
import { png, receiptOf, sizeOf } from '../support/image-service.ts';
import { startSimulated } from './simulated-gateway.ts';

/** Image models that also work on text endpoints: chat completions (CHAT-12) and generateContent. */
const models = ['gemini-nano-banana-2.1', 'gemini-3-pro-image', 'gemini-3.1-flash-lite-image'];
const [MODEL = ''] = models;

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '200' });

const linkIn = (content: string): string => {
  const [, url] = /!\[image\]\((http\S+\/media\/\d{10}-[0-9a-f]{32})\)/.exec(content) ?? [];
  if (!url) throw new Error(`no link in: ${content}`);
  return url;
};

const imageBehind = async (url: string): Promise<Buffer> => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};

test.each(models)('CHAT-12 %s returns a link to a chat of the SDK, charged to the pico-dollar', async (model) => {
  const { result, spent } = await spentBy(gateway, () =>
    sdkFor(gateway)
      .chat.completions.create({ model, messages: saying('A paper boat') })
      .withResponse(),
  );
  const { data, response } = result;
  expect(data.model).toBe(model);
  expect(sizeOf(await imageBehind(linkIn(data.choices[0]?.message.content ?? '')))).toBe('1024x1024');
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBe(parseUsd(response.headers.get('x-service-cost-usd') ?? ''));
  expect(await receiptOf(gateway, response.headers.get('x-request-id') ?? '')).toBe(spent);
  expect(data.usage?.completion_tokens).toBeGreaterThanOrEqual(1_120);
});

test('CHAT-12, CHAT-11 a stream contains the link, and [DONE] follows the stored image', async () => {
  const { result, spent } = await spentBy(gateway, () =>
    postChat(gateway, { model: MODEL, messages: saying('A paper boat'), stream: true }),
  );
  const events = await allEvents(result);
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = events.slice(0, -1).map((event) => chunkSchema.parse(JSON.parse(event)));
  const content = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  expect(sizeOf(await imageBehind(linkIn(content)))).toBe('1024x1024');
  expect(parseUsd(chunks.at(-1)?.usage?.cost_usd ?? '')).toBe(spent);
});

test('CHAT-12 an image of the client is used as reference', async () => {
  const url = `data:image/png;base64,${png(64, 64).toString('base64')}`;
  const content = [
    { type: 'text', text: 'Make it blue' },
    { type: 'image_url', image_url: { url } },
  ];
  const response = await postChat(gateway, { model: MODEL, messages: [{ role: 'user', content }] });
  expect(response.status).toBe(200);
  expect(JSON.stringify(vendor.requests.at(-1)?.body)).toContain(png(64, 64).toString('base64'));
});

test.each([
  ['tools', { tools: [{ type: 'function', function: { name: 'f' } }] }, 400, 'invalid_request_error'],
  ['blocked content', { messages: saying('A boat [[image-blocked]]') }, 400, 'content_filter'],
  ['a provider that fails', { messages: saying('A boat [[status 500]]') }, 502, 'upstream_error'],
])('CHAT-12, IMG-7 %s has the right error code and costs nothing', async (_what, body, status, code) => {
  const { result: response, spent } = await spentBy(gateway, () =>
    postChat(gateway, { model: MODEL, messages: saying('A boat'), ...body }),
  );
  expect([response.status, (await readError(response)).code, spent]).toEqual([status, code, 0n]);
});

test("GEM-4 the provider's SDK creates an image with size and ratio, at its exact price", async () => {
  const { result, spent } = await spentBy(gateway, () =>
    googleFor(gateway).models.generateContent({
      model: MODEL,
      contents: 'A paper boat',
      config: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9', imageSize: '2K' } },
    }),
  );
  const parts = result.candidates?.[0]?.content?.parts ?? [];
  const image = parts.find(({ inlineData }) => inlineData)?.inlineData;
  const [width = 0, height = 0] = (sizeOf(Buffer.from(image?.data ?? '', 'base64')) ?? '').split('x').map(Number);
  expect(width).toBeGreaterThan(2_048);
  expect(Math.abs(width / height - 16 / 9)).toBeLessThan(0.05);
  const { promptTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = result.usageMetadata ?? {};
  const imageTokens = 1_680;
  const price = (usd: string): bigint => parseUsd(usd) / 1_000_000n;
  expect(spent).toBe(
    BigInt(promptTokenCount) * price('1.5') +
      BigInt(candidatesTokenCount + thoughtsTokenCount - imageTokens) * price('7.5') +
      BigInt(imageTokens) * price('30'),
  );
});

test('GEM-2 a stream contains the image, as events for the SDK and as one array', async () => {
  const contents = [{ role: 'user', parts: [{ text: 'A boat [[image-bytes 6000000]]' }] }];
  const stream = await googleFor(gateway).models.generateContentStream({ model: MODEL, contents });
  const parts = (await Array.fromAsync(stream)).flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const images = parts.filter(({ inlineData }) => inlineData);
  expect(images.map(({ inlineData }) => Buffer.from(inlineData?.data ?? '', 'base64').length)).toEqual([6_000_000]);
  const response = await postGoogle(gateway, 'streamGenerateContent', { contents }, { model: MODEL });
  const elements = z.array(z.looseObject({})).parse(await response.json());
  expect(JSON.stringify(elements).length).toBeGreaterThan(8_000_000);
});
