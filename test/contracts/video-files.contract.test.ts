import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import type { ByteRange } from '../../lambdas/core/videos/video-files.ts';
import { type MediaSubject, mediaSubjects } from './media-subjects.ts';

const MiB = 1024 * 1024;
const PIECE = 64 * 1024;

/** Bytes of which no two megabytes are alike. */
const bytesOf = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.imul(at + 4, 2_654_435_761) >>> 0, at);
  return bytes;
};

async function* pieces(bytes: Uint8Array, size = PIECE): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function* breaking(bytes: Uint8Array, error: unknown): AsyncGenerator<Uint8Array> {
  yield* pieces(bytes);
  throw error;
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe.each(mediaSubjects)('the files of videos $name', ({ open }) => {
  let subject: MediaSubject;
  let videos = 0;
  let id = '';
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());
  beforeEach(() => {
    videos += 1;
    id = `video_0${String(videos).padStart(25, '0')}`;
  });

  const read = async (range?: ByteRange): Promise<Buffer | undefined> => {
    const opened = await subject.videos.open(id, range);
    if (!opened) return undefined;
    const found: Uint8Array[] = [];
    for await (const piece of opened) {
      expect(piece.length).toBeGreaterThan(0);
      found.push(piece);
    }
    return Buffer.concat(found);
  };

  test.each([
    ['a few bytes', 5],
    ['one byte less than a part', 8 * MiB - 1],
    ['a part', 8 * MiB],
    ['a part and a byte', 8 * MiB + 1],
    ['20 MB', 20_000_000],
  ])('VID-5 a file of %s is read as it was put, to the byte', async (_what, length) => {
    const bytes = bytesOf(length);
    await subject.videos.put(id, pieces(bytes));
    const got = await read();
    expect(got?.length).toBe(length);
    expect(hashOf(got ?? Buffer.alloc(0))).toBe(hashOf(bytes));
  });

  test('VID-5 pieces may be of any size, and larger than a part', async () => {
    const bytes = bytesOf(20 * MiB);
    for (const size of [20 * MiB, 9 * MiB, 1_000_003]) {
      await subject.videos.put(id, pieces(bytes, size));
      expect(hashOf((await read()) ?? Buffer.alloc(0)), String(size)).toBe(hashOf(bytes));
    }
  });

  test('VID-5 a later file replaces an earlier one', async () => {
    await subject.videos.put(id, pieces(bytesOf(9 * MiB)));
    await subject.videos.put(id, pieces(Buffer.from('new')));
    expect((await read())?.toString()).toBe('new');
  });

  test('VID-5 two who put the same file at once leave it whole', async () => {
    const bytes = bytesOf(10 * MiB);
    await Promise.all([subject.videos.put(id, pieces(bytes)), subject.videos.put(id, pieces(bytes, 100_000))]);
    expect(hashOf((await read()) ?? Buffer.alloc(0))).toBe(hashOf(bytes));
  });

  test.each([0, 1, 8 * MiB, 17 * MiB])('VID-5 what breaks off after %i bytes is no file', async (length) => {
    const error = new GatewayError('upstream_error', 'it is not whole');
    await expect(subject.videos.put(id, breaking(bytesOf(length), error))).rejects.toBe(error);
    expect(await read()).toBeUndefined();
  });

  test('VID-5 what breaks off leaves the file that was there', async () => {
    await subject.videos.put(id, pieces(Buffer.from('kept')));
    const error = new GatewayError('upstream_error', 'it is not whole');
    await expect(subject.videos.put(id, breaking(bytesOf(9 * MiB), error))).rejects.toBe(error);
    expect((await read())?.toString()).toBe('kept');
  });

  test('VID-4 a range is what lies between its ends, both included', async () => {
    const bytes = bytesOf(9 * MiB);
    await subject.videos.put(id, pieces(bytes));
    const last = bytes.length - 1;
    for (const range of [
      { first: 0, last: 0 },
      { first: 0, last: 1 },
      { first: 1, last: 1 },
      { first: 0, last },
      { first: last, last },
      { first: 8 * MiB - 3, last: 8 * MiB + 3 },
      { first: 100, last: 5 * MiB },
    ]) {
      const got = await read(range);
      const wanted = bytes.subarray(range.first, range.last + 1);
      expect([got?.length, hashOf(got ?? Buffer.alloc(0))], JSON.stringify(range)).toEqual([
        wanted.length,
        hashOf(wanted),
      ]);
    }
  });

  test('VID-4 a reader may stop in the middle', async () => {
    await subject.videos.put(id, pieces(bytesOf(9 * MiB)));
    for (let reader = 0; reader < 3; reader += 1) {
      for await (const piece of (await subject.videos.open(id)) ?? []) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
    }
    expect((await read())?.length).toBe(9 * MiB);
  });

  test('VID-4 where there is no file, none is opened', async () => {
    expect(await read()).toBeUndefined();
    expect(await read({ first: 0, last: 0 })).toBeUndefined();
  });

  test('VID-8 a removed file is gone, and may be removed again', async () => {
    await subject.videos.remove(id);
    await subject.videos.put(id, pieces(bytesOf(9 * MiB)));
    await subject.videos.remove(id);
    await subject.videos.remove(id);
    expect(await read()).toBeUndefined();
  });
});
