import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Clock } from '../../../../lambdas/core/clock.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { storeVideo } from '../../../../lambdas/core/videos/finish-video.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { type FileScript, mp4Of, succeededWith } from '../../../support/memory/scripted-video-wire.ts';
import { VIDEO } from './video-samples.ts';
import { type WorldOptions, worldWithJob } from './video-world.ts';

const running = { upstreamId: 'u-1', state: 'in_progress' } as const;
const worldOffering = (script: FileScript = {}, options: WorldOptions = {}) =>
  worldWithJob(running, { script: { poll: () => succeededWith(script) }, ...options });
const whole = mp4Of(100);
const sha256 = createHash('sha256').update(whole).digest('hex');

test.for([
  ['in one piece', [whole]],
  ['in pieces of one byte', Array.from(whole, (byte) => Uint8Array.of(byte))],
  ['with empty pieces', [new Uint8Array(), whole, new Uint8Array()]],
] as const)('VID-5 a file is stored in the bucket, with its size and hash in the job: %s', async ([, pieces]) => {
  const world = await worldOffering({ pieces, tokens: 12 });
  await storeVideo(world.steps, VIDEO);
  const { file } = world.job() ?? {};
  expect(file?.name.startsWith(`${VIDEO}/`)).toBe(true);
  expect(world.memory.files.bytesOf(file?.name ?? '')).toEqual(Buffer.from(whole));
  expect(world.job()).toMatchObject({ file: { bytes: 100, sha256 }, tokens: 12, state: 'in_progress' });
});

test('VID-5 a file without an announced length is accepted', async () => {
  const world = await worldOffering({ pieces: [whole], length: undefined });
  await storeVideo(world.steps, VIDEO);
  expect(world.job()).toMatchObject({ file: { bytes: 100, sha256 } });
  expect(world.job()?.tokens).toBeUndefined();
});

const cut = new GatewayError('upstream_error', 'the connection was cut');

test.for([
  ['shorter than announced', { pieces: [whole], length: 101 }, 'incomplete'],
  ['longer than announced', { pieces: [whole], length: 99 }, 'incomplete'],
  ['empty', { pieces: [] }, 'empty'],
  ['of a few bytes', { pieces: [whole.subarray(0, 7)] }, 'empty'],
  ['not an MP4', { pieces: [Buffer.from('<html>sorry, gone</html>')] }, 'not an MP4'],
  ['not an MP4, in pieces', { pieces: [Buffer.from('<ht'), Buffer.from('ml>sorry')] }, 'not an MP4'],
  ['cut', { pieces: [whole.subarray(0, 50)], length: 100, breaksWith: cut }, 'cut'],
] as const)('VID-5 a file that is %s is rejected, and nothing is stored', async ([, script, why]) => {
  const world = await worldOffering(script);
  await expect(storeVideo(world.steps, VIDEO)).rejects.toThrow(why);
  await expect(storeVideo(world.steps, VIDEO)).rejects.toThrow(GatewayError);
  expect(world.memory.files.names()).toEqual([]);
  expect(world.job()?.file).toBeUndefined();
});

test('VID-5 a file above the size limit is rejected, and nothing is stored', async () => {
  const huge = new Uint8Array(2 * 1024 ** 3 + 1);
  huge.set(whole);
  const world = await worldOffering({ pieces: [huge], length: undefined });
  await expect(storeVideo(world.steps, VIDEO)).rejects.toThrow('too large');
  expect(world.memory.files.names()).toEqual([]);
});

test.for([
  ['running', { kind: 'running', progress: 99 }],
  ['gone', { kind: 'gone' }],
  ['unknown', { kind: 'unknown' }],
  ['failed', { kind: 'failed', failure: { code: 'upstream_error', message: 'no' } }],
] as const)('VID-5 a video that is %s when its file is requested has no file', async ([, status]) => {
  const world = await worldWithJob(running, { script: { poll: () => status } });
  await expect(storeVideo(world.steps, VIDEO)).rejects.toThrow('no longer has the video');
});

test('VID-5 a video whose creation did not complete has no file', async () => {
  const world = await worldWithJob();
  await expect(storeVideo(world.steps, VIDEO)).rejects.toThrow('did not complete');
  expect(world.wire.polls).toEqual([]);
});

test('VID-5 a repeated step stores the file once', async () => {
  const world = await worldOffering({ pieces: [whole] });
  await storeVideo(world.steps, VIDEO);
  await storeVideo(world.steps, VIDEO);
  expect(world.wire.polls).toHaveLength(1);
  expect(world.memory.files.stored).toHaveLength(1);
});

test('VID-5 two concurrent steps keep the first file and delete the other', async () => {
  const world = await worldOffering({ pieces: [whole] });
  let drawn = 0;
  const random = (): number => {
    drawn += 1;
    return drawn / 100;
  };
  const steps = { ...world.steps, ledger: { ...world.steps.ledger, random } };
  await Promise.all([storeVideo(steps, VIDEO), storeVideo(steps, VIDEO)]);
  expect(new Set(world.memory.files.stored).size).toBe(2);
  expect(world.job()).toMatchObject({ file: { bytes: 100, sha256 } });
  expect(world.memory.files.names()).toEqual([world.job()?.file?.name]);
});

test('VID-5 an attempt that ends late does not change what is stored', async () => {
  const first = { name: `${VIDEO}/first`, bytes: 5, sha256: 'abc' };
  const noted = async (): Promise<void> => void (await world.memory.jobs.noteFile(VIDEO, first, 90_000));
  const world = await worldWithJob(running, {
    script: {
      poll: () => {
        void noted();
        return succeededWith({ pieces: [whole] });
      },
    },
  });
  await storeVideo(world.steps, VIDEO);
  expect(world.job()).toMatchObject({ file: first, tokens: 90_000 });
  expect(world.memory.files.names()).toEqual([]);
});

test('VID-5 an attempt that the state machine has abandoned ends by itself', async () => {
  const world = await worldOffering({ pieces: [whole, whole] });
  let asked = 0;
  const clock: Clock = {
    now: () => world.clock.now() + (asked++ > 0 ? 140_000 : 0),
    after: (delayMs, callback) => world.clock.after(delayMs, callback),
  };
  const steps = { ...world.steps, ledger: { ...world.steps.ledger, clock } };
  await expect(storeVideo(steps, VIDEO)).rejects.toThrow('did not arrive in time');
  expect(world.memory.files.names()).toEqual([]);
});

test('VID-5 the file of an ended video is not stored again', async () => {
  const world = await worldOffering();
  await world.memory.jobs.end(VIDEO, { state: 'failed', failure: { code: 'upstream_timeout', message: 'late' } });
  await storeVideo(world.steps, VIDEO);
  await storeVideo(world.steps, 'video_none');
  expect(world.memory.files.stored).toEqual([]);
});

test('VID-5 a store failure ends the step, and the next attempt stores the whole file', async () => {
  const world = await worldOffering({ pieces: [whole] }, { faults: { files: { put: [fails] } } });
  await expect(world.clock.until(storeVideo(world.steps, VIDEO))).rejects.toThrow(StoreError);
  expect(world.job()?.file).toBeUndefined();
  await storeVideo(world.steps, VIDEO);
  expect(world.job()).toMatchObject({ file: { bytes: 100, sha256 } });
});

test('VID-5 a lost reply for the job record does not cause a second download', async () => {
  const world = await worldOffering({ pieces: [whole] }, { faults: { jobs: { noteFile: [losesReply] } } });
  await world.clock.until(storeVideo(world.steps, VIDEO));
  expect(world.memory.files.stored).toHaveLength(1);
});
