import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { s3Wire } from '../support/fault-proxy-wire.ts';
import { until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { type ServerGroup, startServerGroup } from '../support/server-group.ts';
import {
  customerOf,
  expectCharges,
  expectDelivered,
  FUNDS_PICOS,
  openJobs,
  TOKEN_PICOS,
  VIDEO_COST,
  VIDEO_TOKENS,
  type VideoCustomer,
  videoIn,
} from './videos/customer.ts';

/** Longer than the retries within a step, in ms. */
const OUTAGE_MS = 4_000;

let vendor: Simulator;
let group: ServerGroup;
let jobs: ReturnType<typeof openJobs>;
/** `hasty` has short time limits. `enduring` retries often, and its stores can be unavailable. */
let hasty: TestProgram;
let enduring: TestProgram;
let database: FaultProxy;
let bucket: FaultProxy;
/** Ids of videos that the bucket rejects. */
const unstorable = new Set<string>();
let doomed: readonly { readonly what: string; readonly customer: VideoCustomer; readonly id: string }[];
let opened = 0;

beforeAll(async () => {
  vendor = await startSimulator();
  group = await startServerGroup();
  jobs = openJobs(group);
  database = await startFaultProxy({ target: group.databaseUrl });
  bucket = await startFaultProxy({
    target: group.bucketUrl,
    wire: s3Wire,
    plan: ({ key }) => ([...unstorable].some((id) => key.includes(id)) ? { kind: 'fail-before' } : undefined),
  });
  const environment = { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '1', SWEEP_SECONDS: '3600' };
  hasty = await group.start({
    vendorUrl: vendor.url,
    environment: { ...environment, VIDEO_CREATE_SECONDS: '3', VIDEO_LIMIT_SECONDS: '12' },
  });
  enduring = await group.start({
    ...{ vendorUrl: vendor.url, databaseUrl: database.endpoint, bucketUrl: bucket.endpoint },
    environment: { ...environment, VIDEO_RETRY_SECONDS: '1' },
  });
  doomed = await Promise.all(doomedPrompts.map(begin));
});
afterAll(async () => {
  jobs?.close();
  await group?.stop();
  for (const part of [database, bucket, vendor]) await part?.stop();
});

async function newCustomer(gateway = hasty): Promise<VideoCustomer> {
  opened += 1;
  return customerOf(await group.openAccount(`customer-${opened}`, FUNDS_PICOS), gateway.url);
}

/** These videos are retried for minutes, so they start before all other tests and are checked last. */
const doomedPrompts = [
  ['a file that breaks off', '[[takes 100]] [[video-broken]]'],
  ['a page instead of a file', '[[takes 100]] [[video-no-mp4]]'],
  ['a missing file', '[[takes 100]] [[video-missing]]'],
  ['a bucket that rejects the file', '[[takes 4000]]'],
] as const;

async function begin([what, prompt]: (typeof doomedPrompts)[number]) {
  const customer = await newCustomer(enduring);
  const { id } = videoIn(await customer.create(prompt));
  if (what.startsWith('a bucket')) unstorable.add(id);
  return { what, customer, id };
}

const statusOf = async (customer: VideoCustomer, path: string) => (await customer.send('GET', path)).status;

test('VID-5 BILL-14 a video is stored and charged after an outage of the bucket', async () => {
  const customer = await newCustomer(enduring);
  const { id } = videoIn(await customer.create('[[takes 100]] [[video-bytes 20000000]] [[video-slow 1500]]'));
  await until('the first part of its file', () => bucket.calls.find(({ key }) => key.includes(id)));
  bucket.setOutage(true);
  await sleep(OUTAGE_MS);
  expect((await customer.send('GET', `/v1/videos/${id}`)).text).toContain('"status":"in_progress"');
  expect((await group.store.readAccount(customer.account.accountId))?.spentPicos).toBe(0n);
  bucket.setOutage(false);
  await expectDelivered(group, jobs, { customer, id });
});

test('VID-7 BILL-14 a video survives an outage of the database during its polls', async () => {
  const customer = await newCustomer(enduring);
  const { id } = videoIn(await customer.create('[[takes 3000]]'));
  const { upstreamId = '' } = await jobs.read(id);
  await until('the first poll', () => vendor.requests.find(({ path }) => path.endsWith(upstreamId)));
  database.setOutage(true);
  await sleep(OUTAGE_MS);
  expect(await statusOf(customer, `/v1/videos/${id}`)).toBe(503);
  database.setOutage(false);
  await expectDelivered(group, jobs, { customer, id });
});

/** Markers of a failing video, its error code, and a pattern of its message. */
const failures: readonly (readonly [markers: string, code: string, words: RegExp])[] = [
  ['[[takes 100]] [[video-fails]]', 'upstream_error', /could not create/],
  ['[[takes 100]] [[video-blocked]]', 'content_filter', /safety filter/],
  ['[[takes 400]] [[video-vanishes]]', 'upstream_error', /lost this video/],
  ['[[takes 100]] [[video-stalls]]', 'upstream_timeout', /in time/],
  ['[[takes 100]] [[video-unknown]]', 'upstream_timeout', /in time/],
];

/** More than the hold, but plausible. */
const OVERAGE_TOKENS = VIDEO_TOKENS + 30_000;
/** Twice the estimate, which counts blocks of 32 pixels. */
const BOUND_TOKENS = 2 * ((1_280 * 736 * (24 * 4 + 1)) / 1_024);

/** Markers of a completed video, its charge in pico-USD, and the flags of the charge. */
const successes: readonly (readonly [markers: string, picos: bigint, flags: object])[] = [
  ['[[takes 100]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-unknown 2500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-poll-error 2500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-bytes 9000000]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-slow 1500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[no-usage]]', 0n, { overage: false, implausible: false }],
  ['[[takes 100]] [[tokens 0]]', 0n, { overage: false, implausible: false }],
  [
    `[[takes 100]] [[tokens ${OVERAGE_TOKENS}]]`,
    BigInt(OVERAGE_TOKENS) * TOKEN_PICOS,
    { overage: true, implausible: false },
  ],
  ['[[takes 100]] [[tokens 999999999]]', BigInt(BOUND_TOKENS) * TOKEN_PICOS, { overage: true, implausible: true }],
];

test.concurrent.for(failures)('VID-3 VID-6 VID-7 %s ends failed with %s, uncharged', async ([markers, code, words]) => {
  const customer = await newCustomer();
  const { id } = videoIn(await customer.create(markers));
  expect(await statusOf(customer, `/v1/videos/${id}/content`)).toBe(409);
  const { status, error } = await customer.untilEnded(id);
  expect([status, error?.code]).toEqual(['failed', code]);
  expect(error?.message).toMatch(words);
  await expectCharges(group, customer.account, []);
  expect(await statusOf(customer, `/v1/videos/${id}/content`)).toBe(404);
});

test.concurrent.for(successes)('VID-6 VID-7 BILL-7 BILL-10 %s is delivered and charged %i, once', async (row) => {
  const [markers, picos, flags] = row;
  const customer = await newCustomer();
  const { id } = videoIn(await customer.create(markers));
  const record = await expectDelivered(group, jobs, { customer, id, picos });
  expect({ overage: record?.overage ?? false, implausible: record?.implausible ?? false }).toEqual(flags);
});

test('VID-5 VID-6 BILL-1 a video without a stored complete file is not delivered or charged', async () => {
  for (const { what, customer, id } of doomed) {
    const video = videoIn(await customer.send('GET', `/v1/videos/${id}`));
    expect([what, video.status]).toEqual([what, 'in_progress']);
    expect(await statusOf(customer, `/v1/videos/${id}/content`)).toBe(409);
    const account = await group.store.readAccount(customer.account.accountId);
    expect([account?.spentPicos, account?.holds.size]).toEqual([0n, 1]);
    const tries = enduring.output().split(`"step":"store","videoId":"${id}"`).length - 1;
    expect(tries, what).toBeGreaterThanOrEqual(3);
  }
});
