import { expect, test } from 'vitest';
import { videoCreations } from '../../../../lambdas/core/videos/existing-video.ts';
import { chargeVideo, finishVideo, releaseVideo, storeVideo } from '../../../../lambdas/core/videos/finish-video.ts';
import { pollVideo } from '../../../../lambdas/core/videos/poll-video.ts';
import { firstLookAt, LAST_STEPS_MS, resumeVideos } from '../../../../lambdas/core/videos/resume-videos.ts';
import { fails } from '../../../support/memory/faults.ts';
import { jobOf, NOW, REQUEST, times, toStored, VIDEO } from './video-samples.ts';
import { videoWorld, worldWithJob } from './video-world.ts';

const MINUTE_MS = 60_000;
/** Age from which a video is overdue, in ms: its limit and the time for the last steps. */
const OVERDUE_MS = times.limitMs + LAST_STEPS_MS;

test('VID-5 a video is checked after its creation time is over, and not before', async () => {
  expect(firstLookAt(NOW, times.createMs)).toBe(NOW + 2 * MINUTE_MS);
  const world = await worldWithJob();
  await world.clock.advance(2 * MINUTE_MS - 1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 0, released: 0, failed: 0, bug: undefined });
  await world.clock.advance(1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 0, failed: 0, bug: undefined });
});

test('VID-5 a video without an execution gets one, and is not checked again until it is overdue', async () => {
  const world = await worldWithJob();
  await world.clock.advance(2 * MINUTE_MS);
  await resumeVideos(world.steps);
  expect(world.memory.machine.starts).toEqual([VIDEO]);
  expect(world.memory.jobs.dueAtOf(VIDEO)).toBe(NOW + OVERDUE_MS);
  await world.clock.advance(OVERDUE_MS - 2 * MINUTE_MS - 1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 0 });
  expect(world.job()?.state).toBe('queued');
});

test('VID-7 the hold of a video whose execution has ended is released', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1' });
  world.memory.machine.end(VIDEO);
  await world.clock.advance(2 * MINUTE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 1, failed: 0, bug: undefined });
  expect(world.job()).toMatchObject({ state: 'failed' });
  expect((await world.account()).holds.size).toBe(0);
  expect(world.notices).toEqual(['video_resumed', 'video_failed']);
});

test('VID-7 the hold of an overdue video is released, whatever its execution does', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1' });
  await world.clock.advance(OVERDUE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ released: 1 });
  expect(world.memory.machine.starts).toEqual([]);
  expect(world.job()?.failure?.code).toBe('upstream_timeout');
});

test('VID-3 the hold of an ended video is not released', async () => {
  const world = await worldWithJob();
  await world.memory.jobs.end(VIDEO, { state: 'completed', completedAtMs: NOW });
  const late = { ...world.steps, jobs: { ...world.steps.jobs, due: async () => [VIDEO, 'video_none'] } };
  await world.clock.advance(OVERDUE_MS);
  expect(await resumeVideos(late)).toMatchObject({ looked: 2, released: 0, failed: 0, bug: undefined });
  expect(world.notices).toEqual([]);
});

test('VID-5 a failing service leaves a video for the next run and does not delay the others', async () => {
  const world = await worldWithJob({}, { faults: { machine: { start: [fails] } } });
  const { state: _s, progress: _p, refused: _r, ...other } = jobOf({ id: 'video_other', holdId: 'other.0' });
  await world.memory.jobs.create(other, NOW);
  await world.clock.advance(2 * MINUTE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 2, released: 0, failed: 1, bug: undefined });
  expect(world.memory.machine.starts).toEqual(['video_other']);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 0, failed: 0, bug: undefined });
});

test('VID-5 a programming error is reported after all other videos are checked', async () => {
  const world = await videoWorld();
  const read = () => {
    throw new TypeError('a bug');
  };
  const broken = { ...world.steps, jobs: { ...world.steps.jobs, due: async () => ['one', 'two'], read } };
  expect((await resumeVideos(broken)).bug?.message).toBe('2 videos could not be resumed');
});

test('OPS-11 no step, check or takeover ends, charges or deletes a video that it cannot read', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1', file: { name: 'one', bytes: 5, sha256: 'a' } });
  const unreadable = async () => {
    throw new Error(`${VIDEO}: the state "paused" is of a newer release`);
  };
  const jobs = { ...world.steps.jobs, due: async () => [VIDEO], read: unreadable, abandon: unreadable };
  const steps = { ...world.steps, jobs };
  world.memory.machine.end(VIDEO);
  await world.clock.advance(OVERDUE_MS);
  for (const step of [pollVideo, storeVideo, chargeVideo, finishVideo, releaseVideo])
    await expect(step(steps, VIDEO)).rejects.toThrow('newer release');
  await expect(videoCreations(steps, toStored).close(REQUEST)).rejects.toThrow('newer release');
  expect(await resumeVideos(steps)).toMatchObject({ released: 0, failed: 1, bug: { errors: [{}] } });
  expect(world.job()).toMatchObject({ state: 'queued', upstreamId: 'u-1' });
  expect((await world.account()).holds.size).toBe(1);
  expect([world.notices, await world.records()]).toEqual([[], []]);
});
