import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChargeRecord, OutboxEntry } from '../../lambdas/core/ledger/ledger.ts';
import { renderNote } from '../../lambdas/stores/s3/outbox.ts';
import { type MediaSubject, mediaSubjects, openS3 } from './media-subjects.ts';

/** Record with every field. Add new fields here. */
const full = (holdId: string): Required<Omit<ChargeRecord, 'newerOutcome'>> => ({
  accountId: 'account-1',
  holdId,
  requestId: 'request-1',
  outcome: 'settled',
  amountPicos: 12_345_678_901_234_567_890n,
  at: Date.UTC(2026, 10, 1),
  reason: 'a reason',
  model: 'alpha-1',
  usage: { input: 40, output: 10 },
  prices: { input: 8_000_000n, output: 0n },
  overage: true,
  implausible: false,
  cutAtStop: true,
  costPicos: 2n ** 60n,
  answer: 'a'.repeat(64),
  endUser: 'ünï "quoted" \n \u{1f600}',
  ignored: ['seed', 'tools[].x'],
  keyId: '0123456789abcdef',
  endpoint: '/v1/responses',
  provider: 'openai',
  firstByteMs: 0,
  totalMs: 1_234,
  uncollectedPicos: 2n ** 50n,
  usesAllowance: false,
  silentDeadline: false,
  allowancePicos: 2n ** 40n,
  cap: { keyId: '0123456789abcdef', period: '7:2026-11' },
});
const noteOf = (holdId: string): OutboxEntry => ({ record: full(holdId), holdAmountPicos: 1n });

const plain = (holdId: string): OutboxEntry => ({
  record: {
    accountId: 'account-1',
    holdId,
    requestId: 'request-1',
    outcome: 'settled',
    amountPicos: 0n,
    at: 0,
  },
  holdAmountPicos: 100n,
});

describe.each(mediaSubjects)('the outbox $name', ({ open }) => {
  let subject: MediaSubject;
  beforeAll(async () => {
    subject = await open();
  });
  afterAll(() => subject?.stop());

  test('BILL-14 an empty outbox lists nothing', async () => {
    expect(await subject.outbox.list()).toEqual([]);
  });

  test('BILL-14 an entry is read unchanged, any number of times', async () => {
    for (const note of [noteOf('full.0'), plain('plain.0')]) {
      await subject.outbox.put(note);
      await subject.outbox.put(note);
      expect(await subject.outbox.read(note.record.holdId)).toEqual(note);
      expect(await subject.outbox.read(note.record.holdId)).toEqual(note);
    }
  });

  test('BILL-14 a missing entry is undefined, and its removal does no harm', async () => {
    expect(await subject.outbox.read('nobody.0')).toBeUndefined();
    await subject.outbox.remove('nobody.0');
    await subject.outbox.put(plain('some.1'));
    // Neither hold id is a prefix of the other.
    expect(await subject.outbox.read('some')).toBeUndefined();
    expect(await subject.outbox.read('some.11')).toBeUndefined();
  });

  test('BILL-14 waiting entries are listed until they are removed', async () => {
    const holdIds = ['list.0', 'list.1', 'other.0'];
    const others = await subject.outbox.list();
    await Promise.all(holdIds.map((holdId) => subject.outbox.put(plain(holdId))));
    await subject.answers.put('no-note', 'an answer');
    expect((await subject.outbox.list()).toSorted()).toEqual([...others, ...holdIds].toSorted());
    await subject.outbox.remove('list.0');
    await subject.outbox.remove('list.0');
    expect((await subject.outbox.list()).toSorted()).toEqual([...others, 'list.1', 'other.0'].toSorted());
    expect(await subject.outbox.read('list.0')).toBeUndefined();
  });

  test('BILL-14 a list continues after an entry, also one that was removed', async () => {
    await Promise.all(['page.0', 'page.1', 'page.2'].map((holdId) => subject.outbox.put(plain(holdId))));
    const all = await subject.outbox.list();
    expect(all).toEqual(all.toSorted());
    const rest = all.filter((holdId) => holdId > 'page.1');
    expect(await subject.outbox.list('page.1')).toEqual(rest);
    await subject.outbox.remove('page.1');
    expect(await subject.outbox.list('page.1')).toEqual(rest);
    expect(await subject.outbox.list('zzz')).toEqual([]);
  });
});

describe('unreadable outbox entries', () => {
  let bucket: Awaited<ReturnType<typeof openS3>>;
  beforeAll(async () => {
    bucket = await openS3();
  });
  afterAll(() => bucket?.stop());

  const rendered = renderNote(plain('broken.0'));
  test.each([
    ['\n', 'is empty'],
    [rendered.slice(0, -5), 'breaks off'],
    [rendered.replace('"amountPicos":"0"', '"amountPicos":0'), 'has an amount that is a number'],
    [rendered.replace('"amountPicos":"0"', '"amountPicos":"1.5"'), 'has an amount with a fraction'],
    [rendered.replace('"amountPicos":"0"', '"amountPicos":"-1"'), 'has an amount below zero'],
    [rendered.replace('"100"', '"0x64"'), 'has an amount in another notation'],
    [rendered.replace('"accountId":"account-1",', ''), 'has no account'],
    [rendered.replace('"settled"', '"settled_in_part"'), 'has an outcome of a newer release'],
    [rendered.replace('broken.0', 'other.0'), 'belongs to another hold'],
  ])('BILL-14 reading an entry fails: %j, which %s', async (text) => {
    expect(text).not.toBe(rendered);
    await bucket.putObject('outbox/broken.0', text);
    const failure = await bucket.outbox.read('broken.0').catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'Error', message: expect.stringContaining('outbox/broken.0') });
  });

  test('OPS-11 fields of a newer release are ignored', async () => {
    await bucket.putObject('outbox/broken.0', rendered.replace('"at":0', '"at":0,"odd":1').replace('{', '{"odd":[],'));
    expect(await bucket.outbox.read('broken.0')).toEqual(plain('broken.0'));
  });

  test('BILL-14 an entry that was repaired by hand is read', async () => {
    await bucket.putObject('outbox/broken.0', rendered);
    expect(await bucket.outbox.read('broken.0')).toEqual(plain('broken.0'));
  });
});
