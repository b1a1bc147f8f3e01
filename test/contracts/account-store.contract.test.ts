import { beforeAll, describe, expect, test } from 'vitest';
import type { NewAccount } from '../../lambdas/core/accounts/account-store.ts';
import { keyIdOf } from '../../lambdas/core/accounts/keys.ts';
import { LOW_BALANCE_THRESHOLD_DEFAULT } from '../../lambdas/core/accounts/low-balance.ts';
import {
  type AccountSubject,
  accountNamed,
  accountSubjects,
  audit,
  keyNamed,
  OPENED_AT_MS,
} from './account-subjects.ts';

const CREDIT = 5_000_000_000_001n;

describe.each(accountSubjects)('the account store $name', ({ open }) => {
  let subject: AccountSubject;
  let count = 0;
  beforeAll(async () => {
    subject = await open();
  });

  const newId = (): string => {
    count += 1;
    return `account-${count}`;
  };
  const openOne = async (changes: Partial<NewAccount> = {}): Promise<NewAccount> => {
    const account = accountNamed(newId(), changes);
    expect(await subject.accounts.open(account)).toBe('opened');
    return account;
  };
  const versionOf = async (accountId: string) => (await subject.ledger.readAccount(accountId))?.version ?? Number.NaN;

  /** Everything that a failed write could leave behind. */
  const remainsOf = async ({ accountId, key }: NewAccount) => ({
    account: await subject.ledger.readAccount(accountId),
    profile: await subject.accounts.profile(accountId),
    current: await subject.keys.currentKey(accountId),
    key: await subject.keys.read(key.hash),
    credits: await subject.records.readCredits(accountId),
  });
  const nothing = { account: undefined, profile: undefined, current: undefined, key: undefined, credits: [] };

  test('KEY-1 an account is opened with its key and its chat', async () => {
    const { accountId, chatId = '', key } = await openOne({ key: keyNamed('first-key', true) });
    expect(await subject.accounts.chat(chatId)).toEqual({
      id: chatId,
      accountId,
      language: undefined,
      isClosed: false,
      noticedVersion: 0,
    });
    expect(await subject.accounts.profile(accountId)).toEqual({
      accountId,
      chatId,
      thresholdPicos: LOW_BALANCE_THRESHOLD_DEFAULT,
    });
    expect(await subject.keys.currentKey(accountId)).toEqual({
      hash: key.hash,
      label: key.label,
      issuedAtMs: OPENED_AT_MS,
      isShown: true,
      isRevoked: false,
    });
    expect(await subject.keys.read(key.hash)).toEqual({
      keyId: keyIdOf(key.hash),
      accountId,
      status: 'active',
      blocked: false,
      tatMicros: 0,
    });
    expect(await subject.ledger.readAccount(accountId)).toMatchObject({
      status: 'active',
      availablePicos: 0n,
      creditedPicos: 0n,
      spentPicos: 0n,
    });
  });

  test('KEY-1, OPS-5 several accounts may have no chat and no credit', async () => {
    for (const { accountId } of [await openOne({ chatId: undefined }), await openOne({ chatId: undefined })]) {
      expect((await subject.accounts.profile(accountId))?.chatId).toBeUndefined();
      expect(await subject.records.readCredits(accountId)).toEqual([]);
      expect(await audit(subject, accountId)).toMatchObject({ stable: true, findings: [] });
    }
  });

  test('KEY-1, OPS-5 the first credit can be spent once, and the audit finds its record', async () => {
    const { accountId } = await openOne({ creditPicos: CREDIT });
    const account = await subject.ledger.readAccount(accountId);
    expect(account).toMatchObject({ availablePicos: CREDIT, creditedPicos: CREDIT, spentPicos: 0n });
    expect(await subject.records.readCredits(accountId)).toEqual([
      {
        ref: 'start',
        type: 'credit',
        amountPicos: CREDIT,
        reason: 'first balance',
        at: OPENED_AT_MS,
        month: '2026-11',
      },
    ]);
    expect(await audit(subject, accountId)).toMatchObject({ stable: true, findings: [] });
  });

  test('KEY-6 the first credit has its reference and cannot be repeated', async () => {
    const { accountId } = await openOne({ creditPicos: CREDIT });
    const again = { accountId, ref: 'start', reason: 'again', at: OPENED_AT_MS };
    expect(await subject.ledger.credit({ ...again, amountPicos: CREDIT })).toEqual({ kind: 'repeated' });
    expect(await subject.ledger.credit({ ...again, amountPicos: 1n })).toMatchObject({
      kind: 'other-values',
      record: { amountPicos: CREDIT },
    });
    expect(await subject.ledger.readAccount(accountId)).toMatchObject({ creditedPicos: CREDIT });
  });

  test('KEY-1 an account for a chat that has one leaves nothing behind', async () => {
    const first = await openOne({ creditPicos: CREDIT });
    const second = accountNamed(newId(), { chatId: first.chatId, creditPicos: CREDIT });
    expect(await subject.accounts.open(second)).toBe('exists');
    expect(await remainsOf(second)).toEqual(nothing);
    expect(await subject.accounts.chat(first.chatId ?? '')).toMatchObject({ accountId: first.accountId });
  });

  test('KEY-1 an existing account keeps its key, its money and its chat', async () => {
    const first = await openOne({ creditPicos: CREDIT });
    const before = await remainsOf(first);
    const second = { ...first, chatId: `${first.chatId}-2`, key: keyNamed('another-key'), creditPicos: 1n };
    expect(await subject.accounts.open(second)).toBe('exists');
    expect(await subject.accounts.chat(second.chatId)).toBeUndefined();
    expect(await subject.keys.read('another-key')).toBeUndefined();
    // A repeat after a lost reply.
    expect(await subject.accounts.open(first)).toBe('exists');
    expect(await remainsOf(first)).toEqual(before);
  });

  test('AUTH-5 no two accounts have the same key', async () => {
    const first = await openOne();
    const second = accountNamed(newId(), { key: first.key });
    expect(await subject.accounts.open(second)).toBe('exists');
    expect(await remainsOf(second)).toMatchObject({ ...nothing, key: { accountId: first.accountId } });
    expect(await subject.accounts.chat(second.chatId ?? '')).toBeUndefined();
  });

  test('KEY-1 one of several concurrent openings for a chat succeeds', async () => {
    for (const round of [1, 2]) {
      const chatId = `chat-for-all-${round}`;
      const wanted = Array.from({ length: 6 }, () => accountNamed(newId(), { chatId, creditPicos: CREDIT }));
      const replies = await Promise.all(wanted.map((account) => subject.accounts.open(account)));
      expect(replies.toSorted()).toEqual([...Array(5).fill('exists'), 'opened']);
      const chat = await subject.accounts.chat(chatId);
      const [opened] = wanted.filter((_, at) => replies[at] === 'opened');
      expect(chat?.accountId).toBe(opened?.accountId);
      for (const other of wanted.filter((one) => one !== opened)) expect(await remainsOf(other)).toEqual(nothing);
    }
  });

  test('KEY-3 an account has its chat and its threshold, by default 1 USD', async () => {
    const { accountId, chatId } = await openOne();
    const before = await versionOf(accountId);
    for (const thresholdPicos of [2_500_000_000_001n, 0n]) {
      expect(await subject.accounts.setThreshold(accountId, thresholdPicos)).toBe('set');
      expect(await subject.accounts.profile(accountId)).toEqual({ accountId, chatId, thresholdPicos });
    }
    expect(await versionOf(accountId)).toBe(before + 2);
    expect(await subject.accounts.setThreshold('nobody', 1n)).toBe('no-account');
    expect(await subject.accounts.profile('nobody')).toBeUndefined();
    expect(await audit(subject, accountId)).toMatchObject({ findings: [] });
  });

  test('KEY-3 an account older than bot chats has the default threshold and no chat', async () => {
    const accountId = newId();
    await subject.ledger.createAccount(accountId, 0);
    const profile = { accountId, chatId: undefined, thresholdPicos: LOW_BALANCE_THRESHOLD_DEFAULT };
    expect(await subject.accounts.profile(accountId)).toEqual(profile);
    await subject.accounts.setThreshold(accountId, 7n);
    expect(await subject.accounts.profile(accountId)).toEqual({ ...profile, thresholdPicos: 7n });
  });

  test('KEY-3 a chat closes and opens again, and an unknown chat is not created', async () => {
    const { chatId = '' } = await openOne();
    const before = await subject.accounts.chat(chatId);
    for (const isClosed of [true, true, false]) {
      await subject.accounts.setChatClosed(chatId, isClosed);
      expect(await subject.accounts.chat(chatId)).toEqual({ ...before, isClosed });
    }
    await subject.accounts.setChatClosed('nobody', true);
    expect(await subject.accounts.chat('nobody')).toBeUndefined();
  });

  test('KEY-1 a chat gets the language of its user, and an unknown chat is not created', async () => {
    const { chatId = '' } = await openOne();
    const before = await subject.accounts.chat(chatId);
    for (const language of ['ru', 'ru', 'en'] as const) {
      await subject.accounts.setLanguage(chatId, language);
      expect(await subject.accounts.chat(chatId)).toEqual({ ...before, language });
    }
    await subject.accounts.setLanguage('nobody', 'en');
    expect(await subject.accounts.chat('nobody')).toBeUndefined();
  });

  test('KEY-3 the last notified version only rises, even after a late write', async () => {
    const { chatId = '' } = await openOne();
    const noticed = async () => (await subject.accounts.chat(chatId))?.noticedVersion;
    for (const [version, expected] of [
      [3, 3],
      [2, 3],
      [3, 3],
      [10, 10],
    ] as const) {
      await subject.accounts.markNoticed(chatId, version);
      expect(await noticed()).toBe(expected);
    }
    await Promise.all([11, 15, 12, 14, 13].map((version) => subject.accounts.markNoticed(chatId, version)));
    expect(await noticed()).toBe(15);
    await subject.accounts.markNoticed('nobody', 1);
    expect(await subject.accounts.chat('nobody')).toBeUndefined();
  });

  test('KEY-1 a key is marked as shown only if it is the current one', async () => {
    const { accountId, key } = await openOne();
    const shown = async () => (await subject.keys.currentKey(accountId))?.isShown;
    await subject.keys.markShown(accountId, 'never-there');
    expect(await shown()).toBe(false);
    await subject.keys.markShown(accountId, key.hash);
    expect(await shown()).toBe(true);
    const next = keyNamed(`${accountId}-next`);
    await subject.keys.replaceKey({ accountId, oldHash: key.hash, key: next, atMs: OPENED_AT_MS });
    await subject.keys.markShown(accountId, key.hash);
    expect(await shown()).toBe(false);
    await subject.keys.markShown('nobody', key.hash);
    expect(await subject.keys.currentKey('nobody')).toBeUndefined();
  });
});
