import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { CONTENT_KEPT_MS } from '../../lambdas/core/videos/video-job.ts';
import { webhookSecretOf } from '../../lambdas/core/webhooks/signature.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { videoBytesOf } from '../../lib/local/upstreams/video-file.ts';
import { png } from '../lambdas/protocols/videos/images.ts';
import { until } from '../support/gateway-process.ts';
import { type SeenVideo, VIDEO_COST, VIDEO_MODEL } from '../support/video-service-customer.ts';
import { startVideoHandlers } from '../support/video-service-handlers.ts';

/** Spoken by vendors that are not in the catalog, and sold by the second. */
const MODEL = 'sora-2';
const SECOND_PICOS = parseUsd('0.1');
const FUNDS_PICOS = parseUsd('100');

interface Delivered {
  readonly signature: string;
  readonly body: string;
}

let vendor: Simulator;
let receiver: Server;
let service: Awaited<ReturnType<typeof startVideoHandlers>>;
const deliveries: Delivered[] = [];
/** What the receiver says to each delivery in turn, and then 204. */
const says: number[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
  receiver = createServer(async (request, response) => {
    const body = (await buffer(request)).toString();
    deliveries.push({ signature: String(request.headers['x-service-signature']), body });
    response.writeHead(says.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('the system named no port');
  const webhookPort = address.port;
  service = await startVideoHandlers({ vendorUrl: vendor.url, modelId: MODEL, fundsPicos: FUNDS_PICOS, webhookPort });
});
afterAll(async () => {
  await service?.stop();
  receiver?.close();
  receiver?.closeAllConnections();
  await vendor?.stop();
});
afterEach(() => {
  service.setAhead(0);
  deliveries.length = 0;
  vendor.reset();
});

const videoOf = ({ status, text }: { status: number; text: string }): SeenVideo => {
  if (status !== 200) throw new Error(`${status} ${text}`);
  return JSON.parse(text);
};

const untilEnded = (id: string) =>
  until(`the end of ${id}`, async () => {
    const video = videoOf(await service.send({ path: `/v1/videos/${id}` }));
    return video.status === 'completed' || video.status === 'failed' ? video : undefined;
  });

/** What was charged meanwhile, with nothing held and nothing amiss afterwards. */
async function spentBy(work: () => Promise<void>): Promise<bigint> {
  const before = await service.account();
  await work();
  const after = await service.account();
  expect([after.holds.size, after.availablePicos]).toEqual([0, FUNDS_PICOS - after.spentPicos]);
  expect(await service.audit()).toMatchObject({ findings: [], stable: true, openHolds: 0 });
  return after.spentPicos - before.spentPicos;
}

const upstreamIdOf = async (id: string) => (await service.parts.videoJobs.read(id))?.upstreamId ?? '';

test('VID-3 VID-4 VID-5 VID-6 a vendor of the OpenAI protocol: created, polled, stored, charged by the second, downloaded', async () => {
  const spent = await spentBy(async () => {
    const prompt = `A long story of a boat. ${'It sails on. '.repeat(11)}[[takes 6000]]`;
    const created = videoOf(await service.create({ model: MODEL, prompt, seconds: '8', size: '720x1280' }));
    expect(created).toMatchObject({ status: 'queued', model: MODEL, seconds: '8', size: '720x1280', progress: 0 });
    const { id } = created;
    await until('its progress', async () => {
      const { status, progress } = videoOf(await service.send({ path: `/v1/videos/${id}` }));
      return status === 'in_progress' && Number(progress) > 0 && Number(progress) < 100 ? true : undefined;
    });
    expect(await untilEnded(id)).toMatchObject({ status: 'completed', progress: 100, error: null });
    const file = videoBytesOf(await upstreamIdOf(id));
    const path = `/v1/videos/${id}/content`;
    const whole = await service.send({ path });
    expect([whole.status, whole.headers['content-type'], whole.bytes.equals(file)]).toEqual([200, 'video/mp4', true]);
    const part = await service.send({ path, headers: { range: 'bytes=1000-' } });
    expect([part.status, part.bytes.equals(file.subarray(1_000))]).toEqual([206, true]);
  });
  expect(spent).toBe(8n * SECOND_PICOS);
  const [creation, ...others] = vendor.requests.filter(({ method }) => method === 'POST');
  expect(others).toEqual([]);
  expect(creation?.body).toMatchObject({ model: MODEL, seconds: '8', size: '720x1280' });
});

test('VID-2 a vendor of the OpenAI protocol gets the first frame as a file', async () => {
  const image = png(1_280, 720);
  const spent = await spentBy(async () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: MODEL, prompt: '[[takes 100]]' })) form.set(name, value);
    form.set('input_reference', new File([Uint8Array.from(image)], 'mine.png', { type: 'image/png' }));
    const encoded = new Response(form);
    const { id } = videoOf(
      await service.send({
        ...{ method: 'POST', path: '/v1/videos', body: new Uint8Array(await encoded.arrayBuffer()) },
        headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
      }),
    );
    expect(await untilEnded(id)).toMatchObject({ status: 'completed' });
  });
  expect(spent).toBe(4n * SECOND_PICOS);
  const [creation] = vendor.requests;
  expect(creation?.headers['content-type']).toMatch(/^multipart\/form-data/);
  expect(Buffer.from(creation?.bytes ?? []).includes(Buffer.from(image))).toBe(true);
});

test.for([
  ['[[video-fails]]', 'upstream_error'],
  ['[[video-blocked]]', 'content_filter'],
] as const)('VID-6 a vendor of the OpenAI protocol that ends with %s is charged nothing', async ([marker, code]) => {
  const spent = await spentBy(async () => {
    const { id } = videoOf(await service.create({ model: MODEL, prompt: `[[takes 100]] ${marker}` }));
    expect(await untilEnded(id)).toMatchObject({ status: 'failed', error: { code } });
  });
  expect(spent).toBe(0n);
});

test('VID-5 VID-6 a file that never comes, or can never be stored: failed, uncharged, the hold given back', async () => {
  const prompts = ['[[video-broken]]', '[[video-no-mp4]]', '[[video-missing]]', 'a bucket that takes nothing'];
  const spent = await spentBy(async () => {
    const endings = prompts.map(async (prompt) => {
      const { id } = videoOf(await service.create({ model: VIDEO_MODEL, prompt: `[[takes 1500]] ${prompt}` }));
      if (!prompt.startsWith('[[')) service.unstorable.add(id);
      expect(await untilEnded(id), prompt).toMatchObject({
        status: 'failed',
        error: { code: 'upstream_error', message: 'The finished video could not be stored. Nothing was charged.' },
      });
      expect((await service.send({ path: `/v1/videos/${id}/content` })).status).toBe(404);
    });
    await Promise.all(endings);
  });
  expect(spent).toBe(0n);
});

/** As a client would check it (KEY-6). */
const isSigned = ({ signature, body }: Delivered): boolean => {
  const [, seconds = '', digest] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  const due = createHmac('sha256', webhookSecretOf(service.apiKey)).update(`${seconds}.${body}`).digest('hex');
  return digest === due && Math.abs(Date.now() / 1_000 - Number(seconds)) < 60;
};

test.for([
  ['[[takes 100]]', 'completed'],
  ['[[takes 100]] [[video-fails]]', 'failed'],
] as const)('VID-7 the end of a video that %s %s is told, signed, until it is taken', async ([prompt, status]) => {
  says.push(500, 302);
  const webhook_url = 'http://client.example:8080/videos?mine=1';
  const spent = await spentBy(async () => {
    const { id } = videoOf(await service.create({ model: VIDEO_MODEL, prompt, webhook_url }));
    const ended = await untilEnded(id);
    expect(ended.status).toBe(status);
    await until('the third delivery', () => (deliveries.length >= 3 ? true : undefined));
    expect(deliveries.map(isSigned)).toEqual([true, true, true]);
    const [event, ...others] = new Set(deliveries.map(({ body }) => body));
    expect(others).toEqual([]);
    expect(JSON.parse(event ?? '')).toMatchObject({ type: `video.${status}`, data: ended });
  });
  expect(spent).toBe(status === 'completed' ? VIDEO_COST : 0n);
});

test('VID-7 the content of a video is there for 24 hours, and is then 404 expired while the video is still told of', async () => {
  const { id } = videoOf(await service.create({ model: VIDEO_MODEL, prompt: '[[takes 100]]' }));
  await untilEnded(id);
  const path = `/v1/videos/${id}/content`;
  service.setAhead(CONTENT_KEPT_MS - 60_000);
  expect((await service.send({ path })).status).toBe(200);
  service.setAhead(CONTENT_KEPT_MS);
  const late = await service.send({ path });
  expect([late.status, JSON.parse(late.text).error.code]).toEqual([404, 'expired']);
  expect(videoOf(await service.send({ path: `/v1/videos/${id}` })).status).toBe('completed');
  expect((await service.send({ method: 'DELETE', path: `/v1/videos/${id}` })).status).toBe(200);
});
