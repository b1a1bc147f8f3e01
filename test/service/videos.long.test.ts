import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { videoBytesOf } from '../../local/simulators/video-file.ts';
import { startGateway } from '../support/gateway.ts';
import { readError, sdkFor } from '../support/gateway-chat.ts';
import { type Environment, until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { newFolder } from '../support/program.ts';

const MODEL = 'seedance-2-0-fast';
/** Tokens that the provider counts: 1280 by 720 at 24 frames for 4 seconds, and one more frame. */
const TOKENS = (1_280 * 720 * (24 * 4 + 1)) / 1_024;
const COST = BigInt(TOKENS) * (parseUsd('5.6') / 1_000_000n);

/** Head of a PNG image, which contains its size of 1280 by 720. */
const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000500000002d00802000000', 'hex');

let vendor: Simulator;
let folder: string;
const running: TestProgram[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());
beforeEach(() => {
  vendor.reset();
  folder = newFolder();
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(environment: Environment = {}): Promise<TestProgram> {
  const gateway = await startGateway({ stores: 'engine', vendorUrl: vendor.url, folder, environment });
  running.push(gateway);
  return gateway;
}

const creations = () => vendor.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/tasks'));

/** Returns the provider ids of the polled jobs. */
const upstreamIds = () => [
  ...new Set(vendor.requests.flatMap(({ path }) => /\/tasks\/([^/]+)$/.exec(path)?.[1] ?? [])),
];

const untilStatus = (sdk: OpenAI, id: string, status: string) =>
  until(`${status}`, async () => {
    const video = await sdk.videos.retrieve(id);
    if (video.status === 'failed' && status !== 'failed') throw new Error(JSON.stringify(video.error));
    return video.status === status ? video : undefined;
  });

const get = ({ url, apiKey }: TestProgram, path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}`, ...headers } });

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

test('VID-1, VID-3, VID-4, VID-6 a video created by form is polled, downloaded and charged once', async () => {
  const gateway = await start();
  const sdk = sdkFor(gateway);
  const before = await gateway.account();

  const prompt = 'A paper boat [[takes 4000]]';
  const input_reference = new File([png], 'first-frame.png', { type: 'image/png' });
  const created = await sdk.videos.create({ model: MODEL, prompt, input_reference });
  expect(created).toMatchObject({ object: 'video', status: 'queued', model: MODEL, seconds: '4', size: '1280x720' });
  expect((await gateway.account()).held).toBeGreaterThanOrEqual(COST);
  const early = await get(gateway, `/v1/videos/${created.id}/content`);
  expect([early.status, (await readError(early)).code]).toEqual([409, 'video_not_ready']);
  const done = await untilStatus(sdk, created.id, 'completed');
  expect(done).toMatchObject({ progress: 100, error: null, completed_at: expect.any(Number) });

  const [upstreamId = '', ...others] = upstreamIds();
  expect(others).toEqual([]);
  const file = videoBytesOf(upstreamId);
  expect((await bytesOf(await sdk.videos.downloadContent(created.id))).equals(file)).toBe(true);
  for (const [range, part, told] of [
    ['bytes=100-199', file.subarray(100, 200), `bytes 100-199/${file.length}`],
    ['bytes=-50', file.subarray(-50), `bytes ${file.length - 50}-${file.length - 1}/${file.length}`],
  ] as const) {
    const answer = await get(gateway, `/v1/videos/${created.id}/content`, { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([206, told]);
    expect((await bytesOf(answer)).equals(part)).toBe(true);
  }

  const after = await gateway.untilSettled();
  expect([before.balance - after.balance, after.available]).toEqual([COST, after.balance]);
  expect(creations()).toHaveLength(1);
  expect(Buffer.from(creations()[0]?.bytes ?? []).toString()).toContain(
    `data:image/png;base64,${png.toString('base64')}`,
  );
});

test('VID-8, AUTH-7 videos are listed newest first and deletable at their end; unknown ids are 404', async () => {
  const gateway = await start();
  const sdk = sdkFor(gateway);
  const first = await sdk.videos.create({ model: MODEL, prompt: 'one [[takes 100]]', seconds: '4' });
  await sleep(5);
  const second = await sdk.videos.create({ model: MODEL, prompt: 'two [[takes 60000]]', size: '720x1280' });
  await untilStatus(sdk, first.id, 'completed');

  const ids = async () => (await Array.fromAsync(await sdk.videos.list({ limit: 1 }))).map(({ id }) => id);
  expect(await ids()).toEqual([second.id, first.id]);
  await expect(sdk.videos.delete(second.id)).rejects.toMatchObject({ status: 409, code: 'video_in_progress' });
  expect(await sdk.videos.delete(first.id)).toMatchObject({ id: first.id, deleted: true });
  expect(await ids()).toEqual([second.id]);

  const unknown = 'video_01M80AF8B9RMG88S3YTJ4P5H3S';
  for (const id of [first.id, unknown, 'video_1']) {
    await expect(sdk.videos.retrieve(id), id).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(sdk.videos.delete(id), id).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(sdk.videos.downloadContent(id), id).rejects.toMatchObject({ status: 404, code: 'not_found' });
  }
});

test('BILL-13, VID-5 after a restart, a running video is finished and charged once', async () => {
  const first = await start();
  const before = await first.account();
  const { id } = await sdkFor(first).videos.create({ model: MODEL, prompt: 'long [[takes 4000]]' });
  await untilStatus(sdkFor(first), id, 'in_progress');
  expect(await first.kill('SIGTERM')).toBe(0);

  const second = await start();
  await untilStatus(sdkFor(second), id, 'completed');
  const [upstreamId = ''] = upstreamIds();
  const content = await bytesOf(await sdkFor(second).videos.downloadContent(id));
  expect(content.equals(videoBytesOf(upstreamId))).toBe(true);
  expect(before.balance - (await second.untilSettled()).balance).toBe(COST);
  expect(creations()).toHaveLength(1);
});
