import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { sweep } from '../../../../lambdas/core/ledger/sweep.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { chargeVideo, finishVideo, notifyVideo, releaseVideo } from '../../../../lambdas/core/videos/finish-video.ts';
import type { VideoJob } from '../../../../lambdas/core/videos/video-job.ts';
import type { DeliveryResult } from '../../../../lambdas/core/webhook-delivery.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { mp4Of } from '../../../support/memory/scripted-video-wire.ts';
import { ACCOUNT, jobOf, NOW, REQUEST, times, VIDEO } from './video-samples.ts';
import { type VideoWorld, type WorldOptions, worldWithJob } from './video-world.ts';

const HOLD = `${REQUEST}.0`;
const webhook = { url: 'https://client.example/told', secret: 'secret' };
const stored = {
  upstreamId: 'u-1',
  state: 'in_progress',
  file: { name: 'one', bytes: 64, sha256: 'abc' },
  tokens: 4,
} as const;

/** Creates a world with one video whose file is stored. Its hold is 10 USD, at 1 USD per token. */
const worldWithFile = async (changes: Partial<VideoJob> = {}, options: WorldOptions = {}) => {
  const world = await worldWithJob({ ...stored, ...changes }, options);
  await world.memory.files.put(
    'one',
    (async function* () {
      yield mp4Of();
    })(),
  );
  return world;
};
const hasFile = (world: VideoWorld): boolean => world.memory.files.names().includes('one');
const spent = async (world: VideoWorld) => (await world.account()).spentPicos;
const isHeld = async (world: VideoWorld) => (await world.account()).holds.has(HOLD);

test('KEY-9 the charge and the release of a video name the cap of its hold', async () => {
  const cap = { keyId: 'k', period: '2:total' };
  const charged = await worldWithFile({ cap });
  await chargeVideo(charged.steps, VIDEO);
  const released = await worldWithFile({ cap });
  await releaseVideo(released.steps, VIDEO);
  expect([...charged.records(), ...released.records()].map((record) => [record.outcome, record.cap])).toEqual([
    ['settled', cap],
    ['released', cap],
  ]);
});

test('VID-6 the counted usage is charged before the video is completed', async () => {
  const world = await worldWithFile();
  await chargeVideo(world.steps, VIDEO);
  expect(world.records()).toEqual([
    {
      accountId: ACCOUNT,
      holdId: HOLD,
      requestId: REQUEST,
      outcome: 'settled',
      amountPicos: parseUsd('4'),
      at: NOW,
      model: 'film-1',
      usage: { output: 4 },
      prices: { output: parseUsd('1') },
      provider: 'openai',
      totalMs: 0,
      costPicos: parseUsd('4'),
    },
  ]);
  expect(world.job()?.state).toBe('in_progress');
  await world.clock.advance(1_000);
  expect(await finishVideo(world.steps, VIDEO)).toEqual({ webhook: false });
  expect(world.job()).toMatchObject({ state: 'completed', completedAtMs: NOW + 1_000 });
  expect([await spent(world), await isHeld(world), hasFile(world)]).toEqual([parseUsd('4'), false, true]);
  expect(world.notices).toEqual(['video_completed']);
  expect(world.margins).toEqual([['film-1', 0n]]);
});

test('VID-6 repeated steps, concurrent or in sequence, take effect once', async () => {
  const world = await worldWithFile();
  await Promise.all([chargeVideo(world.steps, VIDEO), chargeVideo(world.steps, VIDEO)]);
  await Promise.all([finishVideo(world.steps, VIDEO), finishVideo(world.steps, VIDEO)]);
  await chargeVideo(world.steps, VIDEO);
  expect(await finishVideo(world.steps, VIDEO)).toEqual({ webhook: false });
  expect(world.records()).toHaveLength(1);
  expect(await spent(world)).toBe(parseUsd('4'));
});

test.for([
  [
    'a charge above its hold is an overage',
    { tokens: 12 },
    { amountPicos: parseUsd('12'), overage: true },
    ['video_overage'],
  ],
  [
    'an implausible count is charged at its bound and reported',
    { tokens: 21 },
    { amountPicos: parseUsd('20'), overage: true, implausible: true },
    ['video_usage_implausible', 'video_overage'],
  ],
] as const)('BILL-7 %s', async ([, changes, record, notices]) => {
  const world = await worldWithFile(changes);
  await chargeVideo(world.steps, VIDEO);
  expect(world.records()).toMatchObject([record]);
  expect(world.notices).toEqual(notices);
});

test.for([
  [undefined, {}],
  [0, { output: 0 }],
] as const)('BILL-10 a video with %s tokens is free and is reported for its model', async ([tokens, usage]) => {
  const world = await worldWithFile({ tokens });
  await chargeVideo(world.steps, VIDEO);
  const record = { outcome: 'settled', amountPicos: 0n, usage, reason: 'usage_missing' };
  expect(world.records()).toMatchObject([record]);
  expect([world.notices, world.missing]).toEqual([['video_usage_missing'], ['film-1']]);
});

test.for([
  ['is free', { ratePicos: 0n, unit: 'token' }],
  ['is priced by second', { ratePicos: 1n, unit: 'second' }],
] as const)('BILL-10 a video that %s needs no count', async ([, terms]) => {
  const world = await worldWithFile({ tokens: undefined, terms: { ...terms, unitsMax: 20 } });
  await chargeVideo(world.steps, VIDEO);
  expect([world.notices, world.missing]).toEqual([[], []]);
  expect(world.records()[0]).not.toHaveProperty('reason');
});

test('VID-5 a video is not charged before its file is stored', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1', state: 'in_progress' });
  await expect(chargeVideo(world.steps, VIDEO)).rejects.toThrow('has no file');
  await expect(finishVideo(world.steps, VIDEO)).rejects.toThrow('has no record');
  expect([world.records(), world.job()?.state]).toEqual([[], 'in_progress']);
});

test('BILL-13, OPS-3 a video whose hold was swept fails uncharged, and its file is deleted', async () => {
  const world = await worldWithFile();
  await world.clock.advance(times.holdMs);
  await sweep(world.steps.ledger);
  await chargeVideo(world.steps, VIDEO);
  expect(world.notices).toEqual(['video_late_settlement']);
  const owed = world.money.flatMap(({ uncollected = 0n }) => (uncollected > 0n ? [uncollected] : []));
  expect(owed).toEqual([parseUsd('4')]);
  await finishVideo(world.steps, VIDEO);
  expect(world.job()).toMatchObject({ state: 'failed', failure: { code: 'internal_error' } });
  expect([await spent(world), hasFile(world)]).toEqual([0n, false]);
});

test('VID-7 the hold of a video that failed at the provider is released with its reason', async () => {
  const failure = { code: 'content_filter', message: 'no' } as const;
  const world = await worldWithJob({ upstreamId: 'u-1', failure, webhook });
  expect(await releaseVideo(world.steps, VIDEO)).toEqual({ webhook: true });
  expect(world.job()).toMatchObject({ state: 'failed', failure });
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason: 'content_filter' }]);
  expect([await spent(world), await isHeld(world), world.notices]).toEqual([0n, false, ['video_failed']]);
});

test.for([
  [times.limitMs - 1, 'upstream_error', 'could not be stored', ['video_failed']],
  [times.limitMs, 'upstream_timeout', 'in time', ['video_timed_out', 'video_failed']],
] as const)('VID-7 a video whose hold is released after %i ms fails with %s', async ([ms, code, message, notices]) => {
  const world = await worldWithJob({ upstreamId: 'u-1' });
  await world.clock.advance(ms);
  await releaseVideo(world.steps, VIDEO);
  expect(world.job()?.failure).toMatchObject({ code, message: expect.stringContaining(message) });
  expect(world.notices).toEqual(notices);
});

test('VID-6 an existing charge takes precedence over a release, and the video is completed', async () => {
  const world = await worldWithFile();
  await chargeVideo(world.steps, VIDEO);
  await releaseVideo(world.steps, VIDEO);
  expect(world.job()?.state).toBe('completed');
  expect([await spent(world), hasFile(world), await isHeld(world)]).toEqual([parseUsd('4'), true, false]);
});

test('VID-6 an existing release takes precedence over a charge', async () => {
  const world = await worldWithFile();
  await world.memory.ledger.putRecord({
    ...{ accountId: ACCOUNT, holdId: HOLD, requestId: REQUEST, at: NOW },
    ...{ outcome: 'released', amountPicos: 0n },
  });
  await chargeVideo(world.steps, VIDEO);
  await finishVideo(world.steps, VIDEO);
  expect([world.job()?.state, hasFile(world), await spent(world)]).toEqual(['failed', false, 0n]);
});

test('VID-3 an ended video is not changed by any later step', async () => {
  const failed = await worldWithFile();
  await releaseVideo(failed.steps, VIDEO);
  const completed = await worldWithFile();
  await chargeVideo(completed.steps, VIDEO);
  await finishVideo(completed.steps, VIDEO);
  for (const world of [failed, completed]) {
    const before = [world.job(), world.records(), await spent(world), [...world.notices]];
    for (const step of [chargeVideo, finishVideo, releaseVideo]) await step(world.steps, VIDEO);
    expect([world.job(), world.records(), await spent(world), world.notices]).toEqual(before);
  }
});

test('VID-6 a refused creation releases its hold and sends no webhook', async () => {
  const world = await worldWithJob({ refused: true, webhook });
  expect(await releaseVideo(world.steps, VIDEO)).toEqual({ webhook: false });
  expect([await isHeld(world), world.job()?.refused]).toEqual([false, true]);
});

test('VID-8 the steps of a removed video do nothing', async () => {
  const world = await worldWithJob();
  for (const step of [finishVideo, releaseVideo])
    expect(await step(world.steps, 'video_none')).toEqual({ webhook: false });
  await chargeVideo(world.steps, 'video_none');
  expect(world.records()).toEqual([]);
});

test('VID-3 a lost reply for the end of a video changes nothing, and the end is reported once', async () => {
  const world = await worldWithFile({ webhook }, { faults: { jobs: { end: [losesReply] } } });
  await chargeVideo(world.steps, VIDEO);
  expect(await world.clock.until(finishVideo(world.steps, VIDEO))).toEqual({ webhook: true });
  expect([world.job()?.state, world.notices]).toEqual(['completed', ['video_completed']]);
});

test('VID-5 a store failure ends the step, and a later step continues from there', async () => {
  const down = Array.from({ length: 4 }, () => fails);
  const world = await worldWithFile({}, { faults: { ledger: { putRecord: down, apply: down }, jobs: { end: down } } });
  const failing = (step: Promise<unknown>) => expect(world.clock.until(step)).rejects.toThrow(StoreError);
  await failing(chargeVideo(world.steps, VIDEO));
  await chargeVideo(world.steps, VIDEO);
  await failing(finishVideo(world.steps, VIDEO));
  expect(world.job()?.state).toBe('in_progress');
  await failing(finishVideo(world.steps, VIDEO));
  await finishVideo(world.steps, VIDEO);
  expect([world.job()?.state, await spent(world)]).toEqual(['completed', parseUsd('4')]);
});

test('VID-7 a video fails even if its file cannot be deleted', async () => {
  const world = await worldWithFile({}, { faults: { files: { remove: fails } } });
  await releaseVideo(world.steps, VIDEO);
  expect(world.job()?.state).toBe('failed');
});

test('VID-6 a release applies a settlement that waits in the outbox', async () => {
  const world = await worldWithFile();
  const { holdId, accountId, requestId, holdAmountPicos } = jobOf();
  const record = { accountId, holdId, requestId, outcome: 'settled', amountPicos: parseUsd('3'), at: NOW } as const;
  await world.memory.outbox.put({ record, holdAmountPicos });
  await releaseVideo(world.steps, VIDEO);
  expect([world.job()?.state, await spent(world)]).toEqual(['completed', parseUsd('3')]);
});

const refusal: DeliveryResult = { status: 500, problem: 'the server returned 500.' };
const acceptance: DeliveryResult = { status: 204, problem: undefined };

test('VID-7 each delivery is recorded with the time of the next one, and a failed one is thrown', async () => {
  const results = [refusal, { ...refusal, status: undefined }, acceptance];
  const world = await worldWithFile({ webhook }, { deliver: async () => results.shift() ?? refusal });
  await notifyVideo(world.steps, VIDEO);
  await chargeVideo(world.steps, VIDEO);
  expect(await finishVideo(world.steps, VIDEO)).toEqual({ webhook: true });
  expect([results.length, world.job()?.delivery]).toEqual([3, undefined]);
  const { problem } = refusal;
  await expect(notifyVideo(world.steps, VIDEO)).rejects.toThrow(`The webhook was not delivered: ${problem}`);
  expect(world.job()?.delivery).toEqual({ attempts: 1, lastAtMs: NOW, status: 500, problem, nextAtMs: NOW + 10_000 });
  await world.clock.advance(9_000);
  await expect(notifyVideo(world.steps, VIDEO)).rejects.toThrow('not delivered');
  expect(world.job()?.delivery).toEqual({ attempts: 2, lastAtMs: NOW + 9_000, problem, nextAtMs: NOW + 39_000 });
  expect(world.notices).toEqual(['video_completed', 'video_webhook_failed', 'video_webhook_failed']);
  await notifyVideo(world.steps, VIDEO);
  expect(world.job()?.delivery).toEqual({ attempts: 3, lastAtMs: NOW + 9_000, status: 204 });
});

test('VID-7 an accepted delivery is not repeated', async () => {
  const world = await worldWithFile({ webhook });
  await releaseVideo(world.steps, VIDEO);
  await notifyVideo(world.steps, VIDEO);
  await notifyVideo(world.steps, VIDEO);
  expect([world.delivered.length, world.job()?.delivery?.attempts]).toEqual([1, 1]);
});

test('VID-7 a delivery that cannot be recorded is not repeated', async () => {
  const world = await worldWithFile({ webhook }, { faults: { jobs: { noteDelivery: fails } } });
  await releaseVideo(world.steps, VIDEO);
  await world.clock.until(notifyVideo(world.steps, VIDEO));
  expect([world.delivered.length, world.notices]).toEqual([1, ['video_failed']]);
});

test('VID-7 only a video with a webhook is delivered, and only after its end', async () => {
  const silent = await worldWithFile();
  await releaseVideo(silent.steps, VIDEO);
  await notifyVideo(silent.steps, VIDEO);
  await notifyVideo(silent.steps, 'video_none');
  expect(silent.delivered).toEqual([]);
  const told = await worldWithFile({ webhook });
  await notifyVideo(told.steps, VIDEO);
  expect(told.delivered).toEqual([]);
  await releaseVideo(told.steps, VIDEO);
  await notifyVideo(told.steps, VIDEO);
  expect(told.delivered).toMatchObject([{ id: VIDEO, state: 'failed' }]);
});

test('OPS-3 a completed video is measured once, with its time and its bytes', async () => {
  const world = await worldWithFile();
  await world.clock.advance(90_500);
  await chargeVideo(world.steps, VIDEO);
  await finishVideo(world.steps, VIDEO);
  await finishVideo(world.steps, VIDEO);
  expect(world.measured).toEqual([{ video_s: 90.5, video_stored_bytes: 64 }]);
});
