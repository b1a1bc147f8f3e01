import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { StoreTime } from '../../../../lambdas/core/retry.ts';
import { createVideo } from '../../../../lambdas/core/videos/create-video.ts';
import { releaseVideo } from '../../../../lambdas/core/videos/finish-video.ts';
import { createMoment, type Fault, fails, losesReply } from '../../../support/memory/faults.ts';
import { CREDENTIAL, neverAnswers } from '../../../support/memory/scripted-video-wire.ts';
import { ACCOUNT, ask, jobOf, NOW, orderOf, REQUEST, times, toError, toStored, VIDEO } from './video-samples.ts';
import { videoWorld, type WorldFaults } from './video-world.ts';

const caller = { accountId: ACCOUNT, requestId: REQUEST, hostEndsAtMs: undefined };
const HD_USD = '0.62468';
const vendorSays = (code: 'content_filter' | 'upstream_error') => () => {
  throw new GatewayError(code, 'no');
};

test('BILL-1 hold, job record, execution, provider call and upstream id happen in this order', async () => {
  const log: string[] = [];
  const logged = (method: string): Fault | undefined => {
    log.push(method);
    return undefined;
  };
  const world = await videoWorld({
    faults: { ledger: logged, jobs: logged, machine: logged },
    script: { create: () => String(log.push('vendor')) },
  });
  expect((await world.create()).status).toBe(200);
  expect(log).toEqual(['hold', 'create', 'start', 'vendor', 'setUpstream']);
});

test('KEY-9 a video keeps the cap of its hold, for its charge', async () => {
  const world = await videoWorld();
  world.memory.ledger.setCap(ACCOUNT, 'k', { limitPicos: parseUsd('500'), kind: 'total' }, NOW);
  const capped = { ...caller, cap: { keyId: 'k', kind: 'total', epoch: 2 } } as const;
  await createVideo(world.creating, capped, orderOf({}), { dryRun: false });
  expect(world.job()?.cap).toEqual({ keyId: 'k', period: '2:total' });
});

test('VID-1 a new video is queued with the price of its day and everything that its steps need', async () => {
  const world = await videoWorld();
  const webhook = { url: 'https://client.example', secret: 's' };
  const created = await createVideo(world.creating, caller, orderOf({ webhook }), { dryRun: false });
  expect(created).toEqual({
    kind: 'video',
    job: { ...world.job(), upstreamId: 'upstream-0', credentialId: CREDENTIAL },
  });
  expect(world.job()).toEqual({
    id: VIDEO,
    accountId: ACCOUNT,
    requestId: REQUEST,
    holdId: `${REQUEST}.0`,
    holdAmountPicos: parseUsd(HD_USD),
    modelId: 'film-1',
    providerId: 'openai',
    wire: 'openai_videos',
    upstreamModel: 'vendor-name',
    prompt: 'a cat',
    seconds: 4,
    width: 1280,
    height: 720,
    createdAtMs: NOW,
    terms: { unit: 'token', ratePicos: 7_000_000n, unitsMax: 178_480 },
    webhook,
    state: 'queued',
    progress: 0,
    refused: false,
    upstreamId: 'upstream-0',
    credentialId: CREDENTIAL,
  });
  expect((await world.account()).holds.get(`${REQUEST}.0`)).toEqual({
    amountPicos: parseUsd(HD_USD),
    expiresAtMs: NOW + times.holdMs,
  });
  expect(world.memory.jobs.dueAtOf(VIDEO)).toBe(NOW + 120_000);
  expect(world.wire.creations).toMatchObject([{ ...ask(), upstreamModel: 'vendor-name', provider: { id: 'openai' } }]);
  expect(world.reports).toEqual(['film-1 succeeded']);
});

test('BILL-16 a dry run returns the price and creates nothing', async () => {
  const world = await videoWorld();
  const told = await createVideo(world.creating, caller, orderOf(), { dryRun: true });
  expect(told).toMatchObject({ kind: 'dry_run', holdPicos: parseUsd(HD_USD), prices: { output: 7_000_000n } });
  const second = await createVideo(world.creating, caller, orderOf({ modelId: 'film-2' }), { dryRun: true });
  expect(second).toMatchObject({ holdPicos: parseUsd('0.4'), prices: { second: parseUsd('0.1') } });
  expect([world.job(), (await world.account()).holds.size, world.wire.creations]).toEqual([undefined, 0, []]);
});

test('BILL-1 a request that fails validation holds nothing', async () => {
  const validateFor = () => {
    throw new GatewayError('invalid_size', 'no');
  };
  const world = await videoWorld({ faults: { ledger: () => fails } });
  expect(await world.create(REQUEST, orderOf({ validateFor }))).toEqual({ status: 400, body: 'invalid_size' });
});

test('BILL-2 a balance that is too low creates no video, and the error suggests a smaller one', async () => {
  const world = await videoWorld({ usd: '0.5' });
  const creating = createVideo(world.creating, caller, orderOf(), { dryRun: false });
  await expect(creating).rejects.toThrow('request fewer seconds or a smaller size');
  expect([world.job(), world.wire.creations]).toEqual([undefined, []]);
});

test.for(['content_filter', 'upstream_error'] as const)(
  'BILL-2 a creation that fails with %s is not charged, and its video is not listed',
  async (code) => {
    const world = await videoWorld({ script: { create: vendorSays(code) } });
    expect(await world.create()).toMatchObject({ body: code });
    expect(world.job()).toMatchObject({ state: 'failed', refused: true, failure: { code } });
    expect(await world.memory.jobs.list(ACCOUNT, { limit: 9, newestFirst: true })).toEqual({ jobs: [], more: false });
    expect((await world.account()).holds.size).toBe(0);
    expect(world.records()).toMatchObject([{ outcome: 'released', reason: code, amountPicos: 0n }]);
    expect(world.reports).toEqual([code === 'upstream_error' ? 'film-1 failed' : 'film-1 succeeded']);
  },
);

test('LIM-6 a provider that does not accept in time is called once, and the request times out', async () => {
  const world = await videoWorld({ script: { create: neverAnswers } });
  const creating = world.create();
  await world.clock.advance(times.createMs - 1);
  expect(world.job()?.state).toBe('queued');
  await world.clock.advance(1);
  expect(await creating).toEqual({ status: 504, body: 'upstream_timeout' });
  expect([world.job()?.refused, world.wire.creations.length]).toEqual([true, 1]);
});

test('BILL-2 a programming error during a creation costs nothing', async () => {
  const create = () => {
    throw new TypeError('a bug');
  };
  const world = await videoWorld({ script: { create } });
  await expect(world.create()).rejects.toThrow('a bug');
  expect(world.job()).toMatchObject({ refused: true, failure: { code: 'internal_error' } });
  expect((await world.account()).holds.size).toBe(0);
});

test.for([
  ['the job record', { jobs: { create: fails } }, undefined],
  ['the execution', { machine: { start: fails } }, true],
] as const)('BILL-2 without %s the provider is not called', async ([, faults, refused]) => {
  const world = await videoWorld({ faults });
  expect(await world.clock.until(world.create())).toEqual({ status: 503, body: 'service_unavailable' });
  expect(world.wire.creations).toEqual([]);
  expect(world.job()?.refused).toBe(refused);
  expect(world.reports).toEqual(['film-1 unknown']);
  expect((await world.account()).holds.size).toBe(0);
});

test('VID-8 a creation that lands after its request has failed is not listed', async () => {
  const landing = createMoment();
  const world = await videoWorld({ faults: { jobs: { create: { kind: 'lands-late', until: landing.until } } } });
  expect(await world.clock.until(world.create())).toEqual({ status: 503, body: 'service_unavailable' });
  landing.come();
  await world.steps.jobs.landed();
  expect([world.job(), (await world.account()).holds.size]).toEqual([undefined, 0]);
});

test('VID-8 a creation that lands during its withdrawal is refused', async () => {
  const landing = createMoment();
  const late: Fault = { kind: 'lands-late', until: landing.until };
  const world = await videoWorld({
    faults: { jobs: { create: late, abandon: { kind: 'delayed', until: landing.until } } },
  });
  world.clock.after(3_000, landing.come);
  expect(await world.clock.until(world.create())).toEqual({ status: 503, body: 'service_unavailable' });
  expect(world.job()).toMatchObject({ refused: true, failure: { code: 'service_unavailable' } });
});

test('VID-1 a request whose id another account has used for its video creates none', async () => {
  const world = await videoWorld();
  const { id, holdId } = jobOf();
  await world.memory.jobs.create(jobOf({ accountId: 'account-2' }), NOW);
  await expect(world.create()).rejects.toThrow();
  expect(world.wire.creations).toEqual([]);
  expect(world.job(id)).toEqual({ ...jobOf({ accountId: 'account-2' }), holdId });
  expect((await world.account()).holds.size).toBe(0);
});

const never: Fault = { kind: 'delayed', until: new Promise(() => undefined) };

test.for([
  ['create', 'jobs'],
  ['start', 'machine'],
] as const)('BILL-14 a `%s` that fails after 3 s is not sent again', async ([method, store]) => {
  // Fails one second after the request.
  const slow = (): Fault => ({
    kind: 'delayed',
    until: new Promise((_, reject) => world.clock.after(4_000, () => reject(new StoreError('unavailable', 'slow')))),
  });
  const plan = (name: string): Fault | undefined => (name === method ? slow() : undefined);
  const world = await videoWorld({ faults: { [store]: plan } });
  const timed = { ...caller, storeTime: new StoreTime(world.clock) };
  const creating = createVideo(world.creating, timed, orderOf(), { dryRun: false });
  expect(await world.clock.until(creating.catch(toError))).toEqual({ status: 503, body: 'service_unavailable' });
  expect(world.clock.now() - NOW).toBe(3_000);
  await world.clock.advance(30_000);
  expect(world.creating[store].calls.filter((name) => name === method)).toHaveLength(1);
  expect([world.job()?.refused ?? true, world.wire.creations]).toEqual([true, []]);
});

test('BILL-14 a job store without replies delays the error of a creation by 3 s at most', async () => {
  const world = await videoWorld({ faults: { jobs: () => never } });
  const timed = { ...caller, storeTime: new StoreTime(world.clock) };
  const got = createVideo(world.creating, timed, orderOf(), { dryRun: false }).catch(toError);
  await world.clock.advance(6_000);
  expect(await Promise.race([got, 'no response'])).toEqual({ status: 503, body: 'service_unavailable' });
  expect((await world.account()).holds.size).toBe(0);
});

const once = [losesReply];
const lost: readonly (readonly [string, WorldFaults])[] = [
  ['the job record', { jobs: { create: once } }],
  ['the execution', { machine: { start: once } }],
  ['the upstream id', { jobs: { setUpstream: once } }],
  ['the hold', { ledger: { hold: once } }],
];

test.for(lost)('VID-1 a lost reply for %s changes nothing', async ([, faults]) => {
  const world = await videoWorld({ faults });
  expect(await world.clock.until(world.create())).toMatchObject({ status: 200 });
  expect(world.job()).toMatchObject({ state: 'queued', upstreamId: 'upstream-0' });
  expect([world.wire.creations.length, (await world.account()).holds.size]).toEqual([1, 1]);
});

test.for([
  ['after storing it', losesReply, 'upstream-0'],
  ['before storing it', fails, undefined],
] as const)('VID-1 a video is created although the write of its upstream id fails %s', async ([, fault, id]) => {
  const world = await videoWorld({ faults: { jobs: { setUpstream: fault } } });
  expect(await world.clock.until(world.create())).toMatchObject({ status: 200 });
  expect(world.job()).toMatchObject({ state: 'queued', refused: false });
  expect(world.job()?.upstreamId).toBe(id);
  expect((await world.account()).holds.size).toBe(1);
});

test('VID-6 a video whose hold is released before its provider accepts it is 504 and uncharged', async () => {
  const moment = createMoment();
  const world = await videoWorld({ script: { create: () => moment.until.then(() => 'upstream-late') } });
  const creating = world.create();
  await world.clock.advance(times.createMs + 5_000);
  await releaseVideo(world.steps, VIDEO);
  moment.come();
  expect(await world.clock.until(creating)).toEqual({ status: 504, body: 'upstream_timeout' });
  expect(world.job()).toMatchObject({ state: 'failed', refused: false });
  expect(world.job()?.upstreamId).toBeUndefined();
  expect(world.records()).toMatchObject([{ outcome: 'released' }]);
});

test('BILL-2 a failed creation whose refusal cannot be stored is never charged', async () => {
  const world = await videoWorld({
    script: { create: vendorSays('upstream_error') },
    faults: { jobs: { refuse: fails } },
  });
  expect(await world.clock.until(world.create())).toMatchObject({ status: 502 });
  expect(world.records()).toMatchObject([{ outcome: 'released' }]);
  await releaseVideo(world.steps, VIDEO);
  expect(world.job()).toMatchObject({ state: 'failed' });
});

test('IDEM-2 the response of a creation depends only on immutable fields of the video', async () => {
  const world = await videoWorld();
  const { body } = await world.create();
  const early = world.job();
  await releaseVideo(world.steps, VIDEO);
  const late = world.job();
  expect([early, late].map((job) => job && toStored(job).body)).toEqual([body, body]);
});

test('OPS-3 only videos that their provider has accepted count as begun', async () => {
  const world = await videoWorld();
  await world.create();
  expect(world.measured).toEqual([{ videos_begun: 1 }]);
  const refused = await videoWorld({ script: { create: vendorSays('upstream_error') } });
  await refused.create();
  expect(refused.measured).toEqual([]);
});
