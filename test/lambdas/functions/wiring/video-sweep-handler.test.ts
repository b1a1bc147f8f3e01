import { expect, test } from 'vitest';
import { createResumeAll, createVideoSweepHandler } from '../../../../lambdas/functions/wiring/video-sweep-handler.ts';
import { created } from '../../../fixtures/byteplus/video-tasks.ts';
import { createVideoService } from './video-service.ts';

const MINUTE = 60_000;

test('VID-5 the sweeper starts the execution of a video again only when it is due', async () => {
  const service = await createVideoService(() => created);
  const sweep = createVideoSweepHandler(service.deps);
  const { starts } = service.stores.videoMachine;
  const videoId = await service.create();
  await sweep();
  expect(starts).toEqual([videoId]);
  await service.clock.advance(3 * MINUTE);
  await sweep();
  expect(starts).toEqual([videoId, videoId]);
  expect(service.notices).toEqual([]);
});

test('VID-7 the sweeper releases the hold of a video whose execution has ended, and logs it', async () => {
  const service = await createVideoService(() => created);
  const videoId = await service.create();
  service.stores.videoMachine.end(videoId);
  await service.clock.advance(3 * MINUTE);
  await createVideoSweepHandler(service.deps)();
  expect(service.notices.map(([name]) => name)).toEqual(['video_resumed', 'video_failed', 'videos_swept']);
  expect(service.notices.at(-1)?.[1]).toEqual({ looked: '1', released: '1', failed: '0' });
  expect(await service.holds()).toBe(0);
});

test('VID-5 after a restart every unfinished video gets an execution, due or not', async () => {
  const service = await createVideoService(() => created);
  const made = [await service.create(), await service.create()];
  const { starts } = service.stores.videoMachine;
  const report = await createResumeAll(service.deps)();
  expect(report).toMatchObject({ looked: 2, released: 0, failed: 0 });
  expect(starts).toEqual([...made, ...made]);
});

test('VID-5, OPS-3 an unreadable video fails the run after the others are processed', async () => {
  const service = await createVideoService(() => created);
  const [broken, well] = [await service.create(), await service.create()];
  const { videoMachine, videoJobs } = service.stores;
  const unreadable = new Error('cannot be read');
  const read = videoJobs.read.bind(videoJobs);
  videoJobs.read = async (id) => (id === broken ? Promise.reject(unreadable) : read(id));
  const measured: object[] = [];
  const reporting = { ...service.deps.reporting, measured: (values: object) => measured.push(values) };
  await service.clock.advance(3 * MINUTE);
  const run = createVideoSweepHandler({ ...service.deps, reporting })();
  await expect(run).rejects.toMatchObject({ errors: [unreadable] });
  expect(videoMachine.starts).toEqual([broken, well, well]);
  expect(measured).toEqual([{ video_sweep_failed: 1 }]);
});
