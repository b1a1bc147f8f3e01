import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { pollVideo } from '../../../../lambdas/core/videos/poll-video.ts';
import type { VideoStatus } from '../../../../lambdas/core/videos/video-wire.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { neverAnswers, succeededWith } from '../../../support/memory/scripted-video-wire.ts';
import { jobOf, times, VIDEO } from './video-samples.ts';
import { worldWithJob } from './video-world.ts';

const begun = { upstreamId: 'u-1' };
const failure = { code: 'upstream_error', message: 'no' } as const;
const YOUNG_MS = times.createMs + 5_000;

test.for([
  ['queued', { kind: 'queued' }, 'running', 'queued', 0],
  ['running', { kind: 'running', progress: 40 }, 'running', 'in_progress', 40],
  ['running without progress', { kind: 'running', progress: undefined }, 'running', 'in_progress', 0],
  ['succeeded', succeededWith(), 'succeeded', 'in_progress', 0],
  ['failed', { kind: 'failed', failure }, 'failed', 'queued', 0],
] as const)(
  'VID-3 the provider status %s determines the outcome, state and progress',
  async ([, status, outcome, state, progress]) => {
    const world = await worldWithJob(begun, { script: { poll: () => status } });
    expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome });
    expect(world.job()).toMatchObject({ state, progress });
    expect(world.job()?.failure).toEqual(status.kind === 'failed' ? failure : undefined);
    expect(world.wire.polls).toMatchObject([{ upstreamId: 'u-1', provider: { id: 'openai' } }]);
  },
);

test('VID-9 a poll names the credential that created the job', async () => {
  const world = await worldWithJob({ ...begun, credentialId: 'credential-7' });
  await pollVideo(world.steps, VIDEO);
  expect(world.wire.polls).toMatchObject([{ upstreamId: 'u-1', credentialId: 'credential-7' }]);
});

test('VID-3 progress never decreases', async () => {
  const world = await worldWithJob(begun);
  for (const progress of [40, 20, undefined]) {
    world.wire.say({ poll: () => ({ kind: 'running', progress }) });
    await pollVideo(world.steps, VIDEO);
  }
  expect(world.job()?.progress).toBe(40);
});

const noAnswer = (): never => {
  throw new GatewayError('upstream_error', 'no answer');
};

test.for([
  ['sends an unknown status', (): VideoStatus => ({ kind: 'unknown' })],
  ['does not respond', noAnswer],
] as const)('VID-7 a provider that %s does not change the video', async ([, poll]) => {
  const world = await worldWithJob({ ...begun, state: 'in_progress' }, { script: { poll } });
  const before = world.job();
  await world.clock.advance(times.limitMs / 2);
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'running' });
  expect(world.job()).toEqual(before);
});

test('VID-7 a poll without a response ends after 30 s, and the video continues', async () => {
  const world = await worldWithJob(begun, { script: { poll: neverAnswers } });
  const polled = pollVideo(world.steps, VIDEO);
  await world.clock.advance(29_999);
  expect(world.wire.polls[0]?.signal.aborted).toBe(false);
  await world.clock.advance(1);
  expect(await polled).toMatchObject({ outcome: 'running' });
  expect(world.job()?.failure).toBeUndefined();
});

test('VID-7 a video does not fail because its provider left the catalog', async () => {
  const world = await worldWithJob({ ...begun, providerId: 'gone' });
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'running' });
});

test('VID-7 a programming error is not treated as a missing response', async () => {
  const poll = () => {
    throw new TypeError('a bug');
  };
  const world = await worldWithJob(begun, { script: { poll } });
  await expect(pollVideo(world.steps, VIDEO)).rejects.toThrow('a bug');
});

test.for([
  ['an unknown video', begun, 'lost'],
  ['a missing creation', {}, 'did not complete'],
] as const)('VID-7 %s is ignored while a video is young, and fails it later', async ([, changes, why]) => {
  const world = await worldWithJob(changes, { script: { poll: () => ({ kind: 'gone' }) } });
  await world.clock.advance(YOUNG_MS - 1);
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'running' });
  expect(world.job()?.failure).toBeUndefined();
  await world.clock.advance(1);
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'failed' });
  expect(world.job()?.failure).toMatchObject({ code: 'upstream_error', message: expect.stringContaining(why) });
  // A later step ends the video.
  expect(world.job()?.state).toBe('queued');
});

test('VID-7 the first failure of a video is kept', async () => {
  const world = await worldWithJob(begun, { script: { poll: () => ({ kind: 'failed', failure }) } });
  await pollVideo(world.steps, VIDEO);
  world.wire.say({ poll: () => ({ kind: 'failed', failure: { code: 'content_filter', message: 'other' } }) });
  await pollVideo(world.steps, VIDEO);
  expect(world.job()?.failure).toEqual(failure);
});

test('VID-5 polls get further apart, in whole seconds, and return the age of the video', async () => {
  const world = await worldWithJob(begun);
  const waits: (readonly [number, number])[] = [];
  for (const ageMs of [0, 20_000, 50_500, 119_000, 3_000_000]) {
    await world.clock.advance(jobOf().createdAtMs + ageMs - world.clock.now());
    const { waitSeconds, elapsedSeconds } = await pollVideo(world.steps, VIDEO);
    waits.push([elapsedSeconds, waitSeconds]);
  }
  expect(waits).toEqual([
    [0, 10],
    [20, 10],
    [50, 25],
    [119, 60],
    [3_000, 60],
  ]);
});

test('VID-5 the wait before the next poll is at least one second', async () => {
  const world = await worldWithJob(begun);
  const polled = await pollVideo({ ...world.steps, times: { ...times, pollMs: 1, pollMaxMs: 1 } }, VIDEO);
  expect(polled.waitSeconds).toBe(1);
});

test('VID-3 an ended or removed video is not polled', async () => {
  const world = await worldWithJob(begun);
  await world.memory.jobs.end(VIDEO, { state: 'completed', completedAtMs: 1 });
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'ended' });
  expect(await pollVideo(world.steps, 'video_none')).toMatchObject({ outcome: 'ended', elapsedSeconds: 0 });
  expect(world.wire.polls).toEqual([]);
});

test('VID-7 a poll of a refused creation returns `failed`, so that its hold is released', async () => {
  const world = await worldWithJob({ refused: true });
  expect(await pollVideo(world.steps, VIDEO)).toMatchObject({ outcome: 'failed' });
});

test('VID-5 a brief store failure is retried, and a lasting one ends the step', async () => {
  const once = await worldWithJob(begun, {
    script: { poll: () => ({ kind: 'running', progress: 5 }) },
    faults: { jobs: { read: [fails], advance: [losesReply] } },
  });
  expect(await once.clock.until(pollVideo(once.steps, VIDEO))).toMatchObject({ outcome: 'running' });
  expect(once.job()?.progress).toBe(5);
  const down = await worldWithJob(begun, { faults: { jobs: { read: fails } } });
  await expect(down.clock.until(pollVideo(down.steps, VIDEO))).rejects.toThrow(StoreError);
});
