import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MediaSubject, mediaSubjects } from './media-subjects.ts';

describe.each(mediaSubjects)('the answer store $name', ({ open }) => {
  let subject: MediaSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  test('IDEM-7 an answer is got as it was put, to the byte', async () => {
    for (const content of ['{"text":"\u0000 ünï \u{1f600} \\r\r\n"}', '\ufeff{}']) {
      await subject.answers.put('account-1/answer', content);
      expect(await subject.answers.get('account-1/answer')).toBe(content);
      expect(await subject.answers.get('account-1/answer')).toBe(content);
    }
  });

  test('IDEM-7 an answer of 20 MB is stored', async () => {
    const content = 'é0123456789'.repeat(1_750_000);
    await subject.answers.put('account-1/large', content);
    const got = await subject.answers.get('account-1/large');
    expect(got?.length).toBe(content.length);
    expect(got === content).toBe(true);
  });

  test('IDEM-7 where there is no answer, none is got', async () => {
    expect(await subject.answers.get('account-1/none')).toBeUndefined();
    await subject.outbox.put({
      record: { accountId: 'a', holdId: 'h.0', requestId: 'h', outcome: 'settled', amountPicos: 1n, at: 0 },
      holdAmountPicos: 1n,
    });
    expect(await subject.answers.get('h.0')).toBeUndefined();
  });
});
