import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLocalVideoMachine, videoMachineOptions } from '../../local/video-executions.ts';
import { created, queued } from '../fixtures/byteplus/video-tasks.ts';
import { createVideoService } from '../lambdas/functions/wiring/video-service.ts';

/** The states wait by the clock of the test. */
beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: Date.UTC(2026, 10, 22) }));
afterEach(() => vi.useRealTimers());

/** Number of polls in a minute of one video. */
const pollsAfter = async (starts: number): Promise<number> => {
  let polls = 0;
  const service = await createVideoService(({ method }) => {
    if (method !== 'GET') return created;
    polls += 1;
    return queued;
  });
  const machine = createLocalVideoMachine(() => service.parts, expect.unreachable);
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

test('BILL-2 an execution that ends without success releases the hold of its video', async () => {
  const service = await createVideoService(() => created);
  const { onUnfinished } = videoMachineOptions(service.parts.settings, () => service.parts, expect.unreachable);
  const videoId = await service.create();
  expect(await service.holds()).toBe(1);
  await onUnfinished(videoId);
  expect([await service.spent(), await service.holds()]).toEqual([0n, 0]);
});
