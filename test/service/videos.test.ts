import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { webhookSecretOf } from '../../lambdas/core/signature.ts';
import { CONTENT_KEPT_MS } from '../../lambdas/core/videos/video-job.ts';
import { createWebhookSender } from '../../lambdas/providers/webhook.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { videoBytesOf } from '../../local/simulators/video-file.ts';
import { sdkFor } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import { type InProcessGateway, startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';

const MODEL = 'seedance-2-0-fast';
/** Tokens that the provider counts: 1280 by 720 at 24 frames for 4 seconds, and one more frame. */
const COST = BigInt((1_280 * 720 * (24 * 4 + 1)) / 1_024) * (parseUsd('5.6') / 1_000_000n);
const WEBHOOK_URL = 'http://client.example:8080/videos?mine=1';

interface Delivery {
  readonly signature: string;
  readonly body: string;
}

let vendor: Simulator;
let receiver: Server;
let gateway: InProcessGateway;
/** Time in ms by which the clock is ahead. It never decreases, because rate limits would then be in the future. */
let aheadMs = 0;
const deliveries: Delivery[] = [];
/** Statuses of the next responses to deliveries. Later deliveries get 204. */
const statuses: number[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
  receiver = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    deliveries.push({ signature: String(request.headers['x-service-signature']), body });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  const startedAt = performance.now();
  const now = (): number => TEST_DAY + Math.floor(performance.now() - startedAt) + aheadMs;
  const deliver = createWebhookSender({
    lookup: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
    now,
    reach: { address: (ip) => ip === '127.0.0.1', port: (port) => port === address.port },
  });
  gateway = await startInProcess({
    vendorUrl: vendor.url,
    environment: { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '1', VIDEO_WEBHOOK_RETRY_SECONDS: '1' },
    now,
    change: () => ({
      sendWebhook: ({ url, ...delivery }) =>
        deliver({ ...delivery, url: url.replace('client.example:8080', `client.example:${address.port}`) }),
    }),
  });
});
afterAll(async () => {
  await gateway?.stop();
  receiver?.close();
  receiver?.closeAllConnections();
  await vendor?.stop();
});
/** Returns a new customer, and its balance when no hold is open. */
const customer = async () => {
  const { accountId, apiKey } = await gateway.issue({ balanceUsd: '10' });
  const spent = async (): Promise<bigint> =>
    until('the end of every hold', async () => {
      const account = await gateway.ledger.readAccount(accountId);
      return account?.holds.size === 0 ? account.spentPicos : undefined;
    });
  const sdk = sdkFor({ ...gateway, apiKey });
  const create = (prompt: string, more: object = {}) =>
    sdk.videos.create({ model: MODEL as OpenAI.VideoModel, prompt, seconds: '4', size: '1280x720', ...more });
  const ended = (id: string) =>
    until(`the end of ${id}`, async () => {
      const video = await sdk.videos.retrieve(id);
      return video.status === 'completed' || video.status === 'failed' ? video : undefined;
    });
  return { sdk, apiKey, create, ended, spent };
};

test('VID-3 VID-4 VID-6 a video is created, stored, charged by its tokens and kept for 24 hours', async () => {
  const { sdk, create, ended, spent } = await customer();
  const { id, status } = await create('A lighthouse at dusk [[takes 100]]');
  expect(status).toBe('queued');
  expect(await ended(id)).toMatchObject({ status: 'completed', progress: 100, error: null });
  expect(await spent()).toBe(COST);
  const upstreamId = (await gateway.deps.videoJobs.read(id))?.upstreamId ?? '';
  const content = await (await sdk.videos.downloadContent(id)).arrayBuffer();
  expect(Buffer.from(content).equals(videoBytesOf(upstreamId))).toBe(true);
  aheadMs += CONTENT_KEPT_MS;
  await expect(sdk.videos.downloadContent(id)).rejects.toMatchObject({ status: 404, code: 'expired' });
  expect((await sdk.videos.retrieve(id)).status).toBe('completed');
});

test.each([
  ['[[video-fails]]', 'upstream_error'],
  ['[[video-blocked]]', 'content_filter'],
])('VID-6 a video that ends with %s costs nothing', async (marker, code) => {
  const { create, ended, spent } = await customer();
  const { id } = await create(`A lighthouse [[takes 100]] ${marker}`);
  expect(await ended(id)).toMatchObject({ status: 'failed', error: { code } });
  expect(await spent()).toBe(0n);
});

test('VID-7 the result of a video is delivered, signed, until the client accepts it', async () => {
  statuses.push(500, 302);
  const { apiKey, create, ended, spent } = await customer();
  const { id } = await create('A lighthouse [[takes 100]]', { webhook_url: WEBHOOK_URL });
  const video = await ended(id);
  await until('the third delivery', () => (deliveries.length >= 3 ? true : undefined));
  const [body, ...others] = new Set(deliveries.map((delivery) => delivery.body));
  expect(others).toEqual([]);
  expect(JSON.parse(body ?? '')).toMatchObject({ type: 'video.completed', data: video });
  for (const { signature } of deliveries) {
    const [, seconds = '', digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
    expect(digest).toBe(createHmac('sha256', webhookSecretOf(apiKey)).update(`${seconds}.${body}`).digest('hex'));
  }
  expect(await spent()).toBe(COST);
});
