import { expect, test } from 'vitest';
import { firstLookAt, LAST_STEPS_MS, resumeVideos } from '../../../../lambdas/core/videos/resume-videos.ts';
import { fails } from '../../../support/memory/faults.ts';
import { jobOf, NOW, times, VIDEO } from './video-samples.ts';
import { videoWorld, worldWithJob } from './video-world.ts';

const MINUTE_MS = 60_000;
/** The limit and what the last steps may take. */
const OVERDUE_MS = times.limitMs + LAST_STEPS_MS;

test('VID-5 a video is looked at after its creation is over, and not before', async () => {
  expect(firstLookAt(NOW, times.createMs)).toBe(NOW + 2 * MINUTE_MS);
  const world = await worldWithJob();
  await world.clock.advance(2 * MINUTE_MS - 1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 0, released: 0, failed: 0, bug: undefined });
  await world.clock.advance(1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 0, failed: 0, bug: undefined });
});

test('VID-5 one whose creator died before it had an execution gets one, and is left alone until it is overdue', async () => {
  const world = await worldWithJob();
  await world.clock.advance(2 * MINUTE_MS);
  await resumeVideos(world.steps);
  expect(world.memory.machine.starts).toEqual([VIDEO]);
  expect(world.memory.jobs.dueAtOf(VIDEO)).toBe(NOW + OVERDUE_MS);
  await world.clock.advance(OVERDUE_MS - 2 * MINUTE_MS - 1);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 0 });
  expect(world.job()?.state).toBe('queued');
});

test('VID-7 one that its execution has left behind is released', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1' });
  world.memory.machine.end(VIDEO);
  await world.clock.advance(2 * MINUTE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 1, failed: 0, bug: undefined });
  expect(world.job()).toMatchObject({ state: 'failed' });
  expect((await world.account()).holds.size).toBe(0);
  expect(world.notices).toEqual(['video_resumed', 'video_failed']);
});

test('VID-7 one that is overdue is released, whatever its execution does', async () => {
  const world = await worldWithJob({ upstreamId: 'u-1' });
  await world.clock.advance(OVERDUE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ released: 1 });
  expect(world.memory.machine.starts).toEqual([]);
  expect(world.job()?.failure?.code).toBe('upstream_timeout');
});

test('VID-3 what has ended is not looked at again', async () => {
  const world = await worldWithJob();
  await world.memory.jobs.end(VIDEO, { state: 'completed', completedAtMs: NOW });
  const late = { ...world.steps, jobs: { ...world.steps.jobs, due: async () => [VIDEO, 'video_none'] } };
  await world.clock.advance(OVERDUE_MS);
  expect(await resumeVideos(late)).toMatchObject({ looked: 2, released: 0, failed: 0, bug: undefined });
  expect(world.notices).toEqual([]);
});

test('VID-5 a service that does not answer leaves it for the next run, and keeps no other waiting', async () => {
  const world = await worldWithJob({}, { faults: { machine: { start: [fails] } } });
  const { state: _s, progress: _p, refused: _r, ...other } = jobOf({ id: 'video_other', holdId: 'other.0' });
  await world.memory.jobs.create(other, NOW);
  await world.clock.advance(2 * MINUTE_MS);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 2, released: 0, failed: 1, bug: undefined });
  expect(world.memory.machine.starts).toEqual(['video_other']);
  expect(await resumeVideos(world.steps)).toMatchObject({ looked: 1, released: 0, failed: 0, bug: undefined });
});

test('VID-5 a mistake of ours is told of after all others were looked at', async () => {
  const world = await videoWorld();
  const read = () => {
    throw new TypeError('a mistake');
  };
  const broken = { ...world.steps, jobs: { ...world.steps.jobs, due: async () => ['one', 'two'], read } };
  expect((await resumeVideos(broken)).bug?.message).toBe('2 videos could not be resumed');
});
