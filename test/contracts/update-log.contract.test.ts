import { beforeAll, describe, expect, test } from 'vitest';
import { type TurnKey, UPDATE_LEASE_MS } from '../../lambdas/core/accounts/chats.ts';
import { type AccountSubject, accountSubjects, OPENED_AT_MS as NOW } from './account-subjects.ts';

describe.each(accountSubjects)('the log of updates $name', ({ open }) => {
  let subject: AccountSubject;
  let id = 0;
  beforeAll(async () => {
    subject = await open();
  });

  const claim = (key: TurnKey, nowMs = NOW) => subject.updates.claim(key, nowMs);
  const newUpdate = (): TurnKey => {
    id += 1;
    return `update#${id}`;
  };

  test('KEY-1 an update is claimed once, and is busy until its lease ends', async () => {
    const update = newUpdate();
    expect(await claim(update)).toBe('claimed');
    expect(await claim(update)).toBe('busy');
    expect(await claim(update, NOW + UPDATE_LEASE_MS)).toBe('busy');
    expect(await claim(update, NOW + UPDATE_LEASE_MS + 1)).toBe('claimed');
    expect(await claim(update, NOW + UPDATE_LEASE_MS + 1)).toBe('busy');
    expect(await claim(update, NOW + 2 * UPDATE_LEASE_MS + 1)).toBe('busy');
  });

  test.each([60_001, 3_600_000, 40 * 86_400_000])(
    'KEY-1 an update is free if its lease was taken by a clock that was %i ms ahead',
    async (aheadMs) => {
      const update = newUpdate();
      await claim(update, NOW + aheadMs);
      expect(await claim(update)).toBe('claimed');
      expect(await claim(update)).toBe('busy');
    },
  );

  test('KEY-1 an update that is completed stays completed', async () => {
    const update = newUpdate();
    await claim(update);
    await subject.updates.finish(update, NOW);
    await subject.updates.finish(update, NOW);
    expect(await claim(update)).toBe('done');
    expect(await claim(update, NOW + 86_400_000)).toBe('done');
  });

  test('KEY-1 a released update is free for the next delivery', async () => {
    const update = newUpdate();
    await claim(update);
    await subject.updates.free(update);
    expect(await claim(update)).toBe('claimed');
    const never = newUpdate();
    await subject.updates.free(never);
    expect(await claim(never)).toBe('claimed');
  });

  test('KEY-1 a late release of an update does not undo its completion', async () => {
    const update = newUpdate();
    await claim(update);
    expect(await claim(update, NOW + UPDATE_LEASE_MS + 1)).toBe('claimed');
    await subject.updates.finish(update, NOW + UPDATE_LEASE_MS + 2);
    await subject.updates.free(update);
    expect(await claim(update, NOW + UPDATE_LEASE_MS + 3)).toBe('done');
  });

  test('KEY-1 the start of a chat is independent of the update with its number', async () => {
    newUpdate();
    await claim(`update#${id}`);
    await subject.updates.finish(`update#${id}`, NOW);
    expect(await claim(`start#${id}`)).toBe('claimed');
    expect(await claim(`start#${id}`)).toBe('busy');
    await subject.updates.free(`start#${id}`);
    expect(await claim(`start#${id}`)).toBe('claimed');
    expect(await claim(`update#${id}`)).toBe('done');
  });

  test('KEY-1 one of several concurrent deliveries is processed', async () => {
    const update = `update#${Number.MAX_SAFE_INTEGER}` as const;
    for (const nowMs of [NOW, NOW + UPDATE_LEASE_MS + 1]) {
      const replies = await Promise.all(Array.from({ length: 6 }, () => claim(update, nowMs)));
      expect(replies.toSorted()).toEqual([...Array(5).fill('busy'), 'claimed']);
    }
  });
});
