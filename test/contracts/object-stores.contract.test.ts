import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredMedia } from '../../lambdas/core/images/media.ts';
import { type MediaSubject, mediaSubjects, type PageSubject, pageSubjects } from './media-subjects.ts';

const contentOf = async (stored: StoredMedia | undefined) =>
  stored && { ...stored, bytes: Buffer.concat(await Array.fromAsync(stored.bytes)) };

describe.each(mediaSubjects)('the stores of responses and images $name', ({ open }) => {
  let subject: MediaSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  test('IDEM-7 a stored response is read byte for byte', async () => {
    for (const content of ['{"text":"\u0000 ünï \u{1f600} \\r\r\n"}', '\ufeff{}', 'é0123456789'.repeat(100_000)]) {
      await subject.answers.put('account-1/answer', content);
      for (const _again of [1, 2]) expect((await subject.answers.get('account-1/answer')) === content).toBe(true);
    }
  });

  test('IDEM-7 a missing response is undefined, even next to an outbox entry of its name', async () => {
    expect(await subject.answers.get('account-1/none')).toBeUndefined();
    await subject.outbox.put({
      record: { accountId: 'a', holdId: 'h.0', requestId: 'h', outcome: 'settled', amountPicos: 1n, at: 0 },
      holdAmountPicos: 1n,
    });
    expect(await subject.answers.get('h.0')).toBeUndefined();
  });

  test.each([1, 300_000])('IMG-6 an image of %i bytes is read byte for byte, with its type', async (length) => {
    // View of a larger buffer: only the view may be stored.
    const bytes = randomBytes(length + 200).subarray(100, length + 100);
    const name = `1795000000-${length}`;
    await subject.media.put(name, bytes, 'image/webp');
    const found = await contentOf(await subject.media.open(name));
    expect(found).toMatchObject({ mediaType: 'image/webp', length });
    expect(found?.bytes.equals(bytes)).toBe(true);
  });

  test('IMG-6 a missing image is undefined, even next to a response of its name', async () => {
    expect(await subject.media.open('1795000000-none')).toBeUndefined();
    await subject.answers.put('1795000000-answer', 'text');
    expect(await subject.media.open('1795000000-answer')).toBeUndefined();
  });
});

const HTML = 'text/html; charset=utf-8';

describe.each(pageSubjects)('pages $name', ({ open }) => {
  let subject: PageSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  test('REF-1 a file of a page is read with type and length, and a missing one is undefined', async () => {
    await subject.putPage('app', 'index.html', '<p>ünï</p>', HTML);
    const found = await contentOf(await subject.pages.open('app', 'index.html'));
    expect(found).toEqual({ mediaType: HTML, length: 12, bytes: Buffer.from('<p>ünï</p>') });
    expect(await subject.pages.open('app', 'index.css')).toBeUndefined();
    expect(await subject.pages.open('other', 'index.html')).toBeUndefined();
  });
});
