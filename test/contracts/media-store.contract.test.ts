import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MediaSubject, mediaSubjects } from './media-subjects.ts';

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

describe.each(mediaSubjects)('the images behind links $name', ({ open }) => {
  let subject: MediaSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  const read = async (name: string) => {
    const stored = await subject.media.open(name);
    if (!stored) return undefined;
    const pieces: Uint8Array[] = [];
    for await (const piece of stored.bytes) pieces.push(piece);
    return { ...stored, bytes: Buffer.concat(pieces) };
  };

  test.each([1, 70_000, 12_000_000])(
    'IMG-6 an image of %i bytes is read as it was put, type and all',
    async (length) => {
      const bytes = randomBytes(length);
      const name = `1795000000-${randomBytes(16).toString('hex')}`;
      await subject.media.put(name, bytes, 'image/webp');
      const found = await read(name);
      expect(found).toMatchObject({ mediaType: 'image/webp', length });
      expect(hashOf(found?.bytes ?? Buffer.alloc(0))).toBe(hashOf(bytes));
    },
  );

  test('IMG-6 a part of larger memory is stored alone', async () => {
    const bytes = randomBytes(1_000);
    await subject.media.put('1795000000-part', bytes.subarray(100, 200), 'image/png');
    expect((await read('1795000000-part'))?.bytes.equals(bytes.subarray(100, 200))).toBe(true);
  });

  test('IMG-6 where there is no image, none is opened', async () => {
    expect(await subject.media.open('1795000000-none')).toBeUndefined();
    await subject.answers.put('1795000000-answer', 'text');
    expect(await subject.media.open('1795000000-answer')).toBeUndefined();
  });
});
