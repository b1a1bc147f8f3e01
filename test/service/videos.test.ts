import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
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
  readonly headers: IncomingHttpHeaders;
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
    deliveries.push({ headers: request.headers, body });
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

/** Values of `v1` that an account's secret gives for a delivery. */
const digestOf = (secret: string, { headers, body }: Delivery): string => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
};

const readApi = async (apiKey: string, method: 'GET' | 'POST', path: string, body?: object) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return response.json() as Promise<Record<string, unknown>>;
};

test('VID-7, HOOK-1 the result of a video is delivered, signed, until the client accepts it', async () => {
  statuses.push(500, 302);
  const { sdk, apiKey, create, ended, spent } = await customer();
  const { secret } = await readApi(apiKey, 'GET', '/api/webhooks/secret');
  const { id } = await create('A lighthouse [[takes 100]]', { webhook_url: WEBHOOK_URL });
  await ended(id);
  const shown = await until('the third delivery', async () => {
    const { webhook, ...video } = (await sdk.videos.retrieve(id)) as OpenAI.Video & { webhook: { status: string } };
    return webhook.status === 'delivered' ? { webhook, video } : undefined;
  });
  expect(shown.webhook).toMatchObject({ id: `evt_${id}`, attempts: 3, last_status: 204, next_attempt_at: null });
  expect(deliveries).toHaveLength(3);
  const [body, ...others] = new Set(deliveries.map((delivery) => delivery.body));
  expect(others).toEqual([]);
  expect(JSON.parse(body ?? '')).toMatchObject({ id: `evt_${id}`, type: 'video.completed', data: shown.video });
  for (const delivery of deliveries) {
    const { 'x-service-signature': signature, 'webhook-signature': standard, 'webhook-id': event } = delivery.headers;
    const [, seconds = '', digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(signature)) ?? [];
    expect(digest).toBe(createHmac('sha256', webhookSecretOf(apiKey)).update(`${seconds}.${body}`).digest('hex'));
    expect([standard, event]).toEqual([digestOf(String(secret), delivery), `evt_${id}`]);
  }
  expect(await spent()).toBe(COST);
});

test('HOOK-2, HOOK-3 a test is signed with the secret and the one before, and costs nothing', async () => {
  const { apiKey, spent } = await customer();
  const { secret: older } = await readApi(apiKey, 'GET', '/api/webhooks/secret');
  const { secret: newer } = await readApi(apiKey, 'POST', '/api/webhooks/secret/rotate', { version: 1 });
  deliveries.length = 0;
  statuses.push(404);
  const result = await readApi(apiKey, 'POST', '/api/webhooks/test', { url: WEBHOOK_URL });
  expect(result).toMatchObject({ delivered: false, status: 404, error: 'the server returned 404.' });
  const [delivery] = deliveries;
  if (!delivery) throw new Error('no delivery');
  expect(delivery.headers['webhook-id']).toBe(result.id);
  const digests = [newer, older].map((secret) => digestOf(String(secret), delivery));
  expect(delivery.headers['webhook-signature']).toBe(digests.join(' '));
  expect(await spent()).toBe(0n);
});

test('HOOK-3 a test to a private address is rejected', async () => {
  const { apiKey } = await customer();
  const { error } = await readApi(apiKey, 'POST', '/api/webhooks/test', { url: 'http://169.254.169.254/latest' });
  expect(error).toMatchObject({ code: 'invalid_request_error', param: 'url' });
});
