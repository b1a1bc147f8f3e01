import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createImageFetch } from '../../lambdas/providers/image-fetch.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
const embeddings = JSON.stringify({
  object: 'list',
  data: Array.from({ length: 40 }, (_, index) => ({
    object: 'embedding',
    index,
    embedding: Array.from({ length: 400 }, (_, at) => at / 7),
  })),
  model: 'text-embedding-3-small',
  usage: { prompt_tokens: 40, total_tokens: 40 },
});
const chat = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }], usageMetadata: {} };

let gateway: InProcessGateway;
let imageUrl: string;
let fetches = 0;

/** One server is the provider of everything and has the images. */
const server = createServer((request, response) => {
  if (request.url === '/image.png') {
    fetches += 1;
    response.end(png);
    return;
  }
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(request.url?.endsWith('/embeddings') ? embeddings : JSON.stringify(chat));
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  imageUrl = `http://images.example:${port}/image.png`;
  const fetchImage = createImageFetch({
    lookup: (_, __, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]),
    reach: { address: () => true, port: () => true },
  });
  gateway = await startInProcess({ vendorUrl: `http://127.0.0.1:${port}`, change: () => ({ fetchImage }) });
});

afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

const post = (apiKey: string, path: string, body: unknown) =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const askAboutImage = (apiKey: string) =>
  post(apiKey, '/v1/chat/completions', {
    model: 'gemini-3.8-flash',
    max_tokens: 10,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: imageUrl } }] }],
  });

test('GEN-8 an account without a balance gets 402, and its image is not fetched', async () => {
  const { apiKey } = await gateway.issue({ balanceUsd: '0' });
  expect([(await askAboutImage(apiKey)).status, fetches]).toEqual([402, 0]);
  const funded = await gateway.issue({ balanceUsd: '1' });
  expect([(await askAboutImage(funded.apiKey)).status, fetches]).toEqual([200, 1]);
});

test('EMB-1 a large response passes unchanged, with its length and its cost', async () => {
  const { apiKey } = await gateway.issue({ balanceUsd: '1' });
  const input = Array.from({ length: 40 }, () => 'Hi');
  const response = await post(apiKey, '/v1/embeddings', { model: 'text-embedding-3-small', input });
  expect(response.headers.get('content-length')).toBe(String(embeddings.length));
  expect(Number(response.headers.get('x-service-cost-usd'))).toBeGreaterThan(0);
  expect(await response.text()).toBe(embeddings);
});
