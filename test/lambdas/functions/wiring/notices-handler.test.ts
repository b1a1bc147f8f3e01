import type { DynamoDBRecord } from 'aws-lambda';
import { expect, test } from 'vitest';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../../../lambdas/core/accounts/low-balance.ts';
import type { Delivery, Notification } from '../../../../lambdas/core/accounts/send-notifications.ts';
import type { NoticesFunctionDependencies } from '../../../../lambdas/functions/wiring/dependencies.ts';
import { createNoticesHandler } from '../../../../lambdas/functions/wiring/notices-handler.ts';
import { withAccountFaults } from '../../../support/memory/faults.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryAccountStore } from '../../../support/memory/memory-account-store.ts';
import { MemoryKeyStore } from '../../../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { eventOf, recordOf, type WriteOfAccount } from './notices-records.ts';

/** Default threshold of an account. Every amount is a multiple of it. */
const LOW = LOW_BALANCE_THRESHOLD_DEFAULT;

const open = async (changed: Partial<NoticesFunctionDependencies> = {}) => {
  const ledger = new MemoryLedgerStore();
  const accounts = new MemoryAccountStore(ledger, new MemoryKeyStore(ledger));
  for (const chatId of ['1', '2', '3']) {
    const label = { prefix: 'p', lastFour: 'l' };
    const key = { hash: `hash-${chatId}`, label, pepperId: 'id', isShown: true };
    await accounts.open({ accountId: `account-${chatId}`, chatId, key, creditPicos: LOW, atMs: 0 });
  }
  const clock = new ManualClock();
  const sent: string[] = [];
  const notices: [string, Readonly<Record<string, string>>][] = [];
  const failing = new Map<string, Delivery>();
  const sendNotification = async ({ chatId, balancePicos }: Notification): Promise<Delivery> => {
    const answer = failing.get(chatId) ?? { kind: 'sent' };
    if (answer.kind === 'sent') sent.push(`${chatId}: ${balancePicos}`);
    return answer;
  };
  const handler = createNoticesHandler({
    accounts,
    clock,
    random: () => 0,
    sendNotification,
    reporting: {
      finished: () => undefined,
      notice: (name, details) => notices.push([name, details]),
      measured: () => undefined,
    },
    ...changed,
  });
  const run = async (...records: DynamoDBRecord[]): Promise<readonly string[]> => {
    const { batchItemFailures } = await clock.until(handler(eventOf(...records)));
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
  return { accounts, clock, sent, notices, failing, run, handler };
};

const write = (chatId: string, version: number, changed: Partial<WriteOfAccount> = {}): WriteOfAccount => ({
  accountId: `account-${chatId}`,
  chatId,
  version,
  before: { credited: 3n * LOW, spent: LOW },
  after: { credited: 3n * LOW, spent: 2n * LOW },
  ...changed,
});

test('KEY-3 a write that brings the balance down to the threshold sends a notification, whatever is held', async () => {
  const { run, sent } = await open();
  expect(await run(recordOf(1, write('1', 5, { held: LOW / 2n })))).toEqual([]);
  expect(sent).toEqual([`1: ${LOW}`]);
});

test.each<[string, Partial<WriteOfAccount>]>([
  ['of a hold, which changes only what is available', { after: { credited: 3n * LOW, spent: LOW }, held: 2n * LOW }],
  ['of a top-up', { before: { credited: LOW, spent: 0n }, after: { credited: 9n * LOW, spent: 0n } }],
  ['of an account that wants no notices', { threshold: 0n, after: { credited: 3n * LOW, spent: 3n * LOW } }],
  ['of an account without a chat', { chatId: undefined }],
])('KEY-3 a write %s sends no notification', async (_, changed) => {
  const { run, sent, notices } = await open();
  expect(await run(recordOf(1, write('1', 5, changed)))).toEqual([]);
  expect([sent, notices]).toEqual([[], []]);
});

test('KEY-3 items other than changed accounts are skipped', async () => {
  const { run, sent, notices } = await open();
  const record = recordOf(1, write('1', 5));
  const charge = { ...record, dynamodb: { ...record.dynamodb, Keys: { pk: { S: 'a' }, sk: { S: 'CHARGE#r.0' } } } };
  expect(await run({ ...record, eventName: 'INSERT' }, { ...record, eventName: 'REMOVE' }, charge)).toEqual([]);
  expect([sent, notices]).toEqual([[], []]);
});

test('KEY-3 each crossing of the threshold in a batch is notified once, despite repeated records', async () => {
  const { run, sent } = await open();
  const first = recordOf(1, write('1', 5));
  const second = recordOf(
    4,
    write('1', 9, { before: { credited: 9n * LOW, spent: 7n * LOW }, after: { credited: 9n * LOW, spent: 9n * LOW } }),
  );
  expect(await run(first, first, recordOf(2, write('2', 5)), second, second)).toEqual([]);
  expect(sent).toEqual([`1: ${LOW}`, `2: ${LOW}`, '1: 0']);
  expect(await run(first, second)).toEqual([]);
  expect(sent).toHaveLength(3);
});

test('KEY-3 failures are returned per record and logged, and other records are processed', async () => {
  const { run, sent, failing, notices } = await open();
  failing.set('1', { kind: 'failed', reason: 'no answer' });
  const records = [recordOf(11, write('1', 5)), recordOf(12, write('2', 5)), recordOf(13, write('3', 5))];
  expect(await run(...records)).toEqual(['11']);
  expect(sent).toEqual([`2: ${LOW}`, `3: ${LOW}`]);
  expect(notices).toEqual([['notice_failed', { accountId: 'account-1', reason: 'no answer' }]]);
  failing.clear();
  // AWS sends everything again from the first failed record on.
  expect(await run(...records)).toEqual([]);
  expect(sent).toEqual([`2: ${LOW}`, `3: ${LOW}`, `1: ${LOW}`]);
});

test('KEY-3 a notification that is rejected permanently is logged and not retried', async () => {
  const { run, failing, notices } = await open();
  failing.set('1', { kind: 'refused', reason: 'the chat is not there' });
  expect(await run(recordOf(1, write('1', 5)))).toEqual([]);
  expect(notices).toEqual([['notice_refused', { accountId: 'account-1', reason: 'the chat is not there' }]]);
});

const withImage = (sequenceNumber: number, NewImage: NonNullable<DynamoDBRecord['dynamodb']>['NewImage']) => {
  const record = recordOf(sequenceNumber, write('1', 5));
  return { ...record, dynamodb: { ...record.dynamodb, NewImage } };
};
const image = recordOf(1, write('1', 5)).dynamodb?.NewImage;

test.each<[string, DynamoDBRecord]>([
  ['an image is missing', withImage(1, undefined)],
  ['an amount is missing', withImage(1, { ...image, spent: { S: '1' } })],
  ['an amount is empty', withImage(1, { ...image, spent: { N: '' } })],
  ['an amount is not an integer', withImage(1, { ...image, spent: { N: '1.5' } })],
  ['the keys are missing', { eventName: 'MODIFY', dynamodb: { SequenceNumber: '1' } }],
])('KEY-3 a record fails if %s, and only its number is logged', async (_, record) => {
  const { run, sent, notices } = await open();
  expect(await run(record, recordOf(2, write('2', 5)))).toEqual(['1']);
  expect(notices).toEqual([['account_change_unreadable', { sequenceNumber: '1' }]]);
  expect(sent).toEqual([`2: ${LOW}`]);
});

test('KEY-3 a store that does not respond to one record fails only that record', async () => {
  const { accounts } = await open();
  const fails = { kind: 'fails' } as const;
  const { run, sent, notices } = await open({
    accounts: withAccountFaults(accounts, { chat: [fails, fails, fails, fails] }),
  });
  expect(await run(recordOf(1, write('1', 5)), recordOf(2, write('2', 5)))).toEqual(['1']);
  expect(sent).toEqual([`2: ${LOW}`]);
  expect(notices).toEqual([['notice_failed', { accountId: 'account-1', reason: 'the store: unavailable' }]]);
});

test('KEY-3 a run that is almost out of time leaves the rest of its batch to the next run', async () => {
  const { run, clock, sent } = await open({
    sendNotification: async () => {
      clock.skip(15_000);
      sent.push('slowly');
      return { kind: 'sent' };
    },
  });
  expect(await run(...['1', '2', '3'].map((id, at) => recordOf(at + 1, write(id, 5))))).toEqual(['3']);
  expect(sent).toHaveLength(2);
});

test('KEY-3 without a bot nothing is sent, and nothing fails', async () => {
  const { run, notices } = await open({ sendNotification: undefined });
  expect(await run(recordOf(1, write('1', 5)), withImage(2, undefined))).toEqual([]);
  expect(notices).toEqual([]);
});

test('KEY-3 a record without a sequence number fails the whole run', async () => {
  const { handler } = await open();
  const { dynamodb: _, ...record } = recordOf(1, write('1', 5));
  await expect(handler(eventOf(record))).rejects.toThrow('sequence number');
});
