import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { CONTENT_KEPT_MS } from '../../../../lambdas/core/videos/video-job.ts';
import { isCut, markAsLeft } from '../../../../lambdas/http/cut-answers.ts';
import { jobOf, NOW } from '../../core/videos/video-samples.ts';
import { invoke } from '../../http/function-url.ts';
import { errorOf, requestIdOf, videosService } from './videos-service.ts';

const ID = `video_${requestIdOf(900)}`;
const PATH = `/v1/videos/${ID}/content`;

const film = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 251));

const shaOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function* inPieces(bytes: Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** One finished video, whose file is `bytes`. */
const finished = async (bytes: Uint8Array = film) => {
  const service = await videosService();
  const { jobs, files } = service.memory;
  const { state: _state, progress: _progress, refused: _refused, ...record } = jobOf({ id: ID });
  await jobs.create(record, NOW);
  await files.put(ID, inPieces(bytes));
  await jobs.noteFile(ID, { name: ID, bytes: bytes.length, sha256: shaOf(bytes) }, undefined);
  await jobs.end(ID, { state: 'completed', completedAtMs: NOW });
  return service;
};

const etag = `"${shaOf(film)}"`;

test('VID-4 the content of a finished video is its complete MP4', async () => {
  const { get, streamed, finished: told } = await finished();
  const answer = await get(PATH);
  expect(answer.status).toBe(200);
  expect(answer.bytes.equals(film)).toBe(true);
  expect(answer.headers).toMatchObject({
    'content-type': 'video/mp4',
    'content-length': '200000',
    'accept-ranges': 'bytes',
    'cache-control': 'private',
    etag,
    'x-request-id': requestIdOf(1),
  });
  expect(answer.headers['content-range']).toBeUndefined();
  // Reported once at the end of the stream, and not when the handler returned.
  expect(streamed).toMatchObject([{ status: 200, model: 'film-1', totalMs: 0 }]);
  expect(told).toEqual([]);
  expect(streamed[0]?.errorCode).toBeUndefined();
});

test('VID-4 one range is 206 with its position', async () => {
  const { get, streamed } = await finished();
  const answer = await get(PATH, { range: 'bytes=100-199', 'if-range': etag });
  expect(answer.status).toBe(206);
  expect(answer.bytes.equals(film.subarray(100, 200))).toBe(true);
  expect(answer.headers).toMatchObject({ 'content-length': '100', 'content-range': 'bytes 100-199/200000', etag });
  expect(streamed).toMatchObject([{ status: 206 }]);
});

test('GEN-7 VID-4 HEAD has the headers of the whole file and no body', async () => {
  const { send, streamed } = await finished();
  const answer = await send({ method: 'HEAD', path: PATH, headers: { range: 'bytes=100-199' } });
  expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
  expect(answer.headers).toMatchObject({ 'content-length': '200000', 'content-type': 'video/mp4', etag });
  expect(streamed).toMatchObject([{ status: 200 }]);
});

test.for([
  ['bytes=0-1,4-5', etag],
  ['lines=1-2', etag],
  ['bytes=1-2', '"other"'],
] as const)('VID-4 %s of the file %s returns the whole file', async ([range, ifRange]) => {
  const { get } = await finished();
  const answer = await get(PATH, { range, 'if-range': ifRange });
  expect([answer.status, answer.bytes.length]).toEqual([200, film.length]);
});

test('VID-4 a range after the end is 416 with the size', async () => {
  const { get, finished: told } = await finished();
  const answer = await get(PATH, { range: 'bytes=200000-' });
  expect(errorOf(answer)).toEqual({
    status: 416,
    code: 'range_not_satisfiable',
    param: 'range',
    message: 'range: the video has 200000 bytes, and none of them is in this range. Request a range within them.',
  });
  expect(answer.headers['content-range']).toBe('bytes */200000');
  expect(told).toMatchObject([{ summary: { status: 416, errorCode: 'range_not_satisfiable' } }]);
});

test('VID-4 a variant other than the video is 400', async () => {
  const { get } = await finished();
  for (const variant of ['video', '']) expect((await get(PATH, {}, { variant })).status).toBe(200);
  for (const variant of ['thumbnail', 'spritesheet', 'x']) {
    expect(errorOf(await get(PATH, {}, { variant }))).toEqual({
      status: 400,
      code: 'invalid_request_error',
      param: 'variant',
      message: 'variant: only the video is stored. Remove the parameter.',
    });
  }
});

test('VID-4 the content of an unfinished video is 409, and of a failed video 404', async () => {
  const service = await videosService();
  const { state: _state, progress: _progress, refused: _refused, ...record } = jobOf({ id: ID });
  await service.memory.jobs.create(record, NOW);
  expect(errorOf(await service.get(PATH))).toMatchObject({ status: 409, code: 'video_not_ready' });
  await service.memory.jobs.end(ID, { state: 'failed', failure: { code: 'upstream_error', message: 'No.' } });
  expect(errorOf(await service.get(PATH))).toMatchObject({ status: 404, code: 'not_found' });
});

test('VID-7 24 hours after completion the content is 404 expired, even if the file still exists', async () => {
  const { get, clock } = await finished();
  await clock.advance(CONTENT_KEPT_MS - 1);
  expect((await get(PATH)).status).toBe(200);
  await clock.advance(1);
  expect(errorOf(await get(PATH))).toMatchObject({ status: 404, code: 'expired' });
});

test('VID-7 content that is gone from the bucket is 404 expired', async () => {
  const { get, memory } = await finished();
  await memory.files.remove(ID);
  expect(errorOf(await get(PATH))).toMatchObject({ status: 404, code: 'expired' });
});

test('BILL-14 a bucket without a response is 503', async () => {
  const { get, memory } = await finished();
  memory.files.open = async () => {
    throw new StoreError('unavailable', 'no answer');
  };
  const answer = await get(PATH);
  expect(errorOf(answer)).toMatchObject({ status: 503, code: 'service_unavailable' });
  expect(answer.headers['retry-after']).toBe('30');
});

test.for([0, 1, 70_000, 199_999])(
  'VID-4 content that breaks after %i bytes ends as a cut-off response',
  async (bytes) => {
    const { handler, eventOf, memory, streamed } = await finished();
    const broken = new StoreError('unavailable', 'the connection is gone');
    memory.files.open = async () =>
      (async function* () {
        yield* inPieces(film.subarray(0, bytes));
        throw broken;
      })();
    const event = eventOf({ path: PATH });
    const answer = await invoke(handler, event);
    expect([answer.status, answer.headers['content-length']]).toEqual([200, '200000']);
    expect(answer.bytes.equals(film.subarray(0, bytes))).toBe(true);
    expect(isCut(event)).toBe(true);
    expect(streamed).toMatchObject([{ status: 200, errorCode: 'service_unavailable', cause: broken }]);
  },
);

test('VID-4 a client that leaves stops the read of the bucket, and is not an error', async () => {
  const { handler, eventOf, memory, streamed } = await finished();
  const event = eventOf({ path: PATH });
  let taken = 0;
  memory.files.open = async () =>
    (async function* () {
      for await (const piece of inPieces(film, 1_000)) {
        taken += 1;
        if (taken === 50) markAsLeft(event);
        yield piece;
      }
    })();
  await invoke(handler, event);
  expect([taken, isCut(event)]).toEqual([50, false]);
  expect(streamed).toMatchObject([{ status: 200 }]);
  expect(streamed[0]?.errorCode).toBeUndefined();
});
