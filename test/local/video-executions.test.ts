import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { VideoLeases } from '../../local/stores/sqlite/video-leases.ts';
import { createLocalVideoMachine, videoMachineOptions } from '../../local/video-executions.ts';
import { created, queued } from '../fixtures/byteplus/video-tasks.ts';
import { createVideoService } from '../lambdas/functions/wiring/video-service.ts';

/** The clock of the test controls the wait states. */
beforeEach(() =>
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'],
    now: Date.UTC(2026, 10, 22),
  }),
);
afterEach(() => vi.useRealTimers());

/** Leases of a process that shares its videos with no other. */
const free: VideoLeases = {
  take: async () => true,
  renew: async () => undefined,
  endAll: async () => undefined,
  expired: async () => [],
};

/** Returns the number of polls in a minute for one video that is started `starts` times. */
const pollsAfter = async (starts: number, leases: Partial<VideoLeases> = {}): Promise<number> => {
  let polls = 0;
  const service = await createVideoService(({ method }) => {
    if (method !== 'GET') return created;
    polls += 1;
    return queued;
  });
  const machine = createLocalVideoMachine(() => service.deps, { ...free, ...leases }, expect.unreachable);
  const videoId = await service.create();
  for (let start = 0; start < starts; start += 1) expect(await machine.start(videoId)).toBe('running');
  await vi.advanceTimersByTimeAsync(60_000);
  await machine.stop();
  return polls;
};

test('VID-7 a video that is started three times has one execution', async () => {
  const once = await pollsAfter(1);
  expect(once).toBeGreaterThan(0);
  expect(await pollsAfter(3)).toBe(once);
});

test('VID-7 a video that another process runs is started when its lease expires', async () => {
  const taken: string[] = [];
  const others = { take: async () => false };
  expect(await pollsAfter(1, others)).toBe(0);
  const silent = {
    take: async (videoId: string) => taken.push(videoId) > 1,
    expired: async () => taken.slice(0, 1),
  };
  expect(await pollsAfter(1, silent)).toBeGreaterThan(0);
  expect(new Set(taken).size).toBe(1);
});

test('BILL-2 an execution that ends without success releases the hold of its video', async () => {
  const service = await createVideoService(() => created);
  const { onUnfinished } = videoMachineOptions(service.deps.settings, () => service.deps, expect.unreachable);
  const videoId = await service.create();
  expect(await service.holds()).toBe(1);
  await onUnfinished(videoId);
  expect([await service.spent(), await service.holds()]).toEqual([0n, 0]);
});
