import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import type { ByteRange } from '../../lambdas/core/videos/dependencies.ts';
import { type MediaSubject, mediaSubjects } from './media-subjects.ts';

const MiB = 1024 * 1024;
const PIECE = 64 * 1024;

/** Creates bytes of which no two megabytes are equal. */
const bytesOf = (length: number): Buffer => {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let at = 0; at < words.length; at += 1) words[at] = Math.imul(at + 1, 2_654_435_761);
  return Buffer.from(words.buffer, 0, length);
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

  const expectFile = async (bytes: Uint8Array): Promise<void> => {
    const got = await read();
    expect([got?.length, hashOf(got ?? Buffer.alloc(0))]).toEqual([bytes.length, hashOf(bytes)]);
  };

  test.each([
    ['a few bytes', 5, PIECE],
    ['a part', 8 * MiB, 1_000_003],
    ['a part and a byte, in one piece', 8 * MiB + 1, 9 * MiB],
  ])('VID-5 a file of %s is read unchanged', async (_what, length, size) => {
    const bytes = bytesOf(length);
    await subject.videos.put(id, pieces(bytes, size));
    await expectFile(bytes);
  });

  test('VID-5 a later file replaces an earlier, longer one', async () => {
    await subject.videos.put(id, pieces(Buffer.from('the earlier one')));
    await subject.videos.put(id, pieces(Buffer.from('new')));
    await expectFile(Buffer.from('new'));
  });

  const error = new GatewayError('upstream_error', 'it is incomplete');

  test.each([0, 1])('VID-5 an upload that stops after %i bytes leaves no file', async (length) => {
    await expect(subject.videos.put(id, breaking(bytesOf(length), error))).rejects.toBe(error);
    expect(await read()).toBeUndefined();
  });

  test('VID-5 an upload that stops after a part keeps the earlier file', async () => {
    await subject.videos.put(id, pieces(Buffer.from('kept')));
    await expect(subject.videos.put(id, breaking(bytesOf(8 * MiB + 1), error))).rejects.toBe(error);
    await expectFile(Buffer.from('kept'));
  });

  test('VID-4 a range includes both its ends', async () => {
    const bytes = bytesOf(5 * PIECE);
    await subject.videos.put(id, pieces(bytes));
    const last = bytes.length - 1;
    for (const range of [
      { first: 0, last: 0 },
      { first: 0, last: 1 },
      { first: 1, last: 1 },
      { first: 0, last },
      { first: last, last },
      { first: PIECE - 3, last: PIECE + 3 },
      { first: 100, last: 4 * PIECE },
    ]) {
      const got = await read(range);
      const wanted = bytes.subarray(range.first, range.last + 1);
      expect([got?.length, hashOf(got ?? Buffer.alloc(0))], JSON.stringify(range)).toEqual([
        wanted.length,
        hashOf(wanted),
      ]);
    }
  });

  test('VID-4 a reader can stop in the middle', async () => {
    await subject.videos.put(id, pieces(bytesOf(2 * MiB)));
    for (let reader = 0; reader < 3; reader += 1) {
      for await (const piece of (await subject.videos.open(id)) ?? []) {
        expect(piece.length).toBeGreaterThan(0);
        break;
      }
    }
    expect((await read())?.length).toBe(2 * MiB);
  });

  test('VID-4 a missing file is not opened', async () => {
    expect(await read()).toBeUndefined();
    expect(await read({ first: 0, last: 0 })).toBeUndefined();
  });

  test('VID-8 a file is removed, and a second removal does no harm', async () => {
    await subject.videos.remove(id);
    await subject.videos.put(id, pieces(bytesOf(5)));
    await subject.videos.remove(id);
    await subject.videos.remove(id);
    expect(await read()).toBeUndefined();
  });
});
