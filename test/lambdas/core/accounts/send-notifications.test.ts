import { expect, test } from 'vitest';
import type { BalanceChange } from '../../../../lambdas/core/accounts/low-balance.ts';
import {
  createNotifications,
  type Delivery,
  type Notification,
} from '../../../../lambdas/core/accounts/send-notifications.ts';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { withAccountFaults } from '../../../support/memory/faults.ts';
import { type AccountFaults, accountWorld, CHAT } from './account-world.ts';

const USD = 1_000_000_000_000n;

/** One account with a bot chat, and a messenger that first returns the scripted results and then accepts everything. */
const open = async () => {
  const world = accountWorld();
  const { accountId } = await world.process().start();
  const sent: Notification[] = [];
  const attempts: Notification[] = [];
  const answers: (Delivery | Error)[] = [];
  const sendNotification = async (notice: Notification): Promise<Delivery> => {
    attempts.push(notice);
    const answer = answers.shift() ?? { kind: 'sent' };
    if (answer instanceof Error) throw answer;
    if (answer.kind === 'sent') sent.push(notice);
    return answer;
  };
  const change = (version: number, changed: Partial<BalanceChange> = {}): BalanceChange => ({
    accountId,
    chatId: CHAT,
    version,
    beforePicos: 2n * USD,
    afterPicos: USD,
    thresholdPicos: USD,
    ...changed,
  });
  const process = (faults: AccountFaults = {}) => {
    const tell = createNotifications({
      accounts: withAccountFaults(world.accounts, faults),
      clock: world.clock,
      random: () => 0,
      sendNotification,
    });
    return (told: BalanceChange) => world.clock.until(tell(told));
  };
  return { ...world, sent, attempts, answers, change, process };
};

const answered = (...answers: (Delivery | Error)[]) => answers;
const limited = (retryAfterSeconds: number): Delivery => ({ kind: 'limited', retryAfterSeconds });
const done = { kind: 'done' };

test("KEY-3 a crossing is sent to the account's bot chat in the user's language, and marked", async () => {
  const { process, change, accounts, sent } = await open();
  await accounts.setLanguage(CHAT, 'ru');
  expect(await process()(change(7, { afterPicos: USD - 1n }))).toEqual(done);
  expect(sent).toEqual([{ chatId: CHAT, language: 'ru', balancePicos: USD - 1n, thresholdPicos: USD }]);
  expect(await accounts.chat(CHAT)).toMatchObject({ noticedVersion: 7, isClosed: false });
});

test('KEY-3 a repeated crossing is sent once across all processes', async () => {
  const { process, change, sent } = await open();
  const one = process();
  for (const tell of [one, one, process(), process()]) expect(await tell(change(7))).toEqual(done);
  expect(sent).toHaveLength(1);
  await process()(change(6));
  expect(sent).toHaveLength(1);
  await process()(change(9));
  expect(sent).toHaveLength(2);
});

test.each([
  ['no chat', { chatId: undefined }],
  ['an unknown chat', { chatId: '99' }],
  ['the chat of another account', { accountId: 'another' }],
])('KEY-3 nothing is sent for an account with %s', async (_, changed) => {
  const { process, change, attempts } = await open();
  expect(await process()(change(7, changed))).toEqual(done);
  expect(attempts).toEqual([]);
});

test('KEY-3 a user who blocked the bot gets no message until the chat is open again', async () => {
  const { process, change, accounts, answers, attempts } = await open();
  answers.push({ kind: 'closed' });
  expect(await process()(change(7))).toEqual(done);
  expect(await accounts.chat(CHAT)).toMatchObject({ isClosed: true, noticedVersion: 0 });
  expect(await process()(change(9))).toEqual(done);
  expect(attempts).toHaveLength(1);
  await accounts.setChatClosed(CHAT, false);
  expect(await process()(change(11))).toEqual(done);
  expect(attempts).toHaveLength(2);
});

test('KEY-3 a messenger that requests a short wait gets one retry after it', async () => {
  const { process, change, answers, sent, clock } = await open();
  answers.push(limited(5));
  const startedAtMs = clock.now();
  expect(await process()(change(7))).toEqual(done);
  expect([sent.length, clock.now() - startedAtMs]).toEqual([1, 5_000]);
});

test.each([
  ['for a long wait', answered(limited(6)), 1],
  ['for a wait twice', answered(limited(1), limited(1)), 2],
])(
  'KEY-3 a messenger that asks %s is retried at the next event, and nothing is marked',
  async (_, script, attempted) => {
    const { process, change, answers, attempts, sent, accounts } = await open();
    answers.push(...script);
    expect(await process()(change(7))).toMatchObject({ kind: 'failed' });
    expect(attempts).toHaveLength(attempted);
    expect(await accounts.chat(CHAT)).toMatchObject({ noticedVersion: 0 });
    expect(await process()(change(7))).toEqual(done);
    expect(sent).toHaveLength(1);
  },
);

test('KEY-3 a messenger that does not respond is retried at the next event', async () => {
  const { process, change, answers, sent } = await open();
  answers.push({ kind: 'failed', reason: 'no answer' }, { kind: 'failed', reason: 'no answer' });
  const tell = process();
  for (const expected of ['failed', 'failed', 'done', 'done']) expect((await tell(change(7))).kind).toBe(expected);
  expect(sent).toHaveLength(1);
});

test('KEY-3 a permanently refused notification is reported to the operator and not retried', async () => {
  const { process, change, answers, attempts } = await open();
  answers.push({ kind: 'refused', reason: '400 chat not found' });
  expect(await process()(change(7))).toEqual({ kind: 'refused', reason: '400 chat not found' });
  expect(await process()(change(7))).toEqual(done);
  expect(attempts).toHaveLength(1);
});

const fails = { kind: 'fails' } as const;

test('KEY-3 a failed mark is written later, and the process that sent does not send again', async () => {
  const { process, change, sent, accounts } = await open();
  const tell = process({ markNoticed: [fails, fails, fails, fails] });
  await expect(tell(change(7))).rejects.toThrow(StoreError);
  expect(await accounts.chat(CHAT)).toMatchObject({ noticedVersion: 0 });
  expect(await tell(change(7))).toEqual(done);
  expect(await accounts.chat(CHAT)).toMatchObject({ noticedVersion: 7 });
  expect(sent).toHaveLength(1);
});

test('KEY-3 a process that cannot look up the chat sends nothing', async () => {
  const { process, change, attempts } = await open();
  await expect(process({ chat: [fails, fails, fails, fails] })(change(7))).rejects.toThrow(StoreError);
  expect(attempts).toEqual([]);
});
