import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ImageFetch } from '../../lambdas/providers/image-fetch.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { readError } from '../support/gateway-chat.ts';
import { png, readImages } from '../support/image-service.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process-gateway.ts';

let vendor: Simulator;
let gateway: InProcessGateway;
const fetched: string[] = [];
const fetchImage: ImageFetch = async (url) => {
  fetched.push(url);
  return { mediaType: 'image/png', bytes: png(64, 64) };
};

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({ vendorUrl: vendor.url, change: () => ({ fetchImage }) });
});
beforeEach(() => {
  vendor.reset();
  fetched.length = 0;
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

const inline = `data:image/png;base64,${png(64, 64).toString('base64')}`;

const edit = (apiKey: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${gateway.url}/v1/images/edits`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-image-2', prompt: 'A boat', size: '1024x1024', quality: 'low', ...body }),
  });

test.each([
  ['gpt-image-2', { mask: { image_url: 'https://images.example/mask.png' } }],
  ['gemini-3.1-flash-lite-image', { size: null, quality: null }],
])('IMG-5, CHAT-6 %s edits images in JSON, by URL and inline', async (model, more) => {
  const { apiKey } = await gateway.issue();
  const images = [{ image_url: 'https://images.example/a.png' }, { image_url: inline }];
  const response = await edit(apiKey, { model, images, ...more });
  expect((await readImages(response)).data).toHaveLength(1);
  expect(fetched[0]).toBe('https://images.example/a.png');
  expect(vendor.requests).toHaveLength(1);
});

test('IDEM-1, IDEM-2 a repeated edit in JSON is replayed without a fetch, a call or a charge', async () => {
  const { apiKey, accountId } = await gateway.issue();
  const send = () => edit(apiKey, { image: 'https://images.example/a.png' }, { 'idempotency-key': 'edit-1' });
  const first = await send();
  const text = await first.text();
  const balance = (await gateway.ledger.readAccount(accountId))?.availablePicos;
  const second = await send();
  expect([first.status, second.headers.get('idempotent-replayed'), await second.text()]).toEqual([200, 'true', text]);
  expect([fetched.length, vendor.requests.length]).toEqual([1, 1]);
  expect((await gateway.ledger.readAccount(accountId))?.availablePicos).toBe(balance);
});

test('IMG-5, GEN-8 a file id is 400, and an account without money is 402, before a fetch', async () => {
  const { apiKey } = await gateway.issue();
  const stored = await edit(apiKey, { images: [{ file_id: 'file-1' }] });
  expect([stored.status, (await readError(stored)).param]).toEqual([400, 'images[0].file_id']);
  const poor = await gateway.issue({ balanceUsd: '0.000001' });
  const refused = await edit(poor.apiKey, { image: 'https://images.example/a.png' });
  expect([refused.status, fetched]).toEqual([402, []]);
});
