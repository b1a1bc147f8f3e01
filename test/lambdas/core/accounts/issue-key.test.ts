import { describe, expect, test } from 'vitest';
import type { CurrentKey } from '../../../../lambdas/core/accounts/account-store.ts';
import { blockAccount } from '../../../../lambdas/core/accounts/block-account.ts';
import { issueKey } from '../../../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf } from '../../../../lambdas/core/accounts/new-key.ts';
import { rotateKey } from '../../../../lambdas/core/accounts/rotate-key.ts';
import { accountsThrough } from '../../../support/memory/every-call.ts';
import { losesReply } from '../../../support/memory/faults.ts';
import { type AccountMethod, type AccountWorld, accountWorld, hashOf } from './account-world.ts';

const ID = 'account-1';
/** In each of these states an account has no working key. */
const states = ['none', 'open', 'revoked'] as const;
type State = (typeof states)[number];

const reach = async (state: State): Promise<{ world: AccountWorld; before: CurrentKey | undefined | 'new' }> => {
  const world = accountWorld();
  if (state === 'none') return { world, before: 'new' };
  if (state === 'open') {
    await world.ledger.createAccount(ID);
    return { world, before: undefined };
  }
  const issued = await issueKey(world.through(world.accounts), ID, 'new');
  if (issued.kind !== 'issued') throw new Error('no key');
  await world.accounts.revokeKey(ID, issued.made.key.hash);
  return { world, before: await world.accounts.currentKey(ID) };
};

const writes: Record<State, AccountMethod> = { none: 'open', open: 'putFirstKey', revoked: 'replaceKey' };

describe.each(states)('an account whose key is: %s', (state) => {
  test('OPS-5 is given one, which alone is let in', async () => {
    const { world, before } = await reach(state);
    const issued = await issueKey(world.through(world.accounts), ID, before);
    if (issued.kind !== 'issued') throw new Error(issued.kind);
    expect(await world.currentHash(ID)).toBe(hashOf(issued.made.apiKey));
    expect(await world.usableKeys()).toEqual([issued.made.key.hash]);
  });

  test('OPS-5 of two operators at once the second is told of the key of the first, and of no other', async () => {
    const { world, before } = await reach(state);
    let rivals = 0;
    const accounts = accountsThrough(async (method, call) => {
      if (method === writes[state] && rivals === 0) {
        rivals += 1;
        await issueKey(world.through(world.accounts), ID, before);
      }
      return call();
    }, world.accounts);
    const issued = await issueKey(world.through(accounts), ID, before);
    expect(rivals).toBe(1);
    expect(issued).toMatchObject({ kind: 'has-key', current: { hash: await world.currentHash(ID) } });
    expect(await world.usableKeys()).toEqual([await world.currentHash(ID)]);
  });

  test('OPS-5 a reply that was lost loses no key', async () => {
    const { world, before } = await reach(state);
    const { issue } = world.process({ [writes[state]]: [losesReply] });
    const issued = await issue(ID, before);
    expect(issued).toMatchObject({ kind: 'issued', made: { key: { hash: await world.currentHash(ID) } } });
  });
});

test('OPS-5 an account that is blocked is given none', async () => {
  const { world, before } = await reach('open');
  await blockAccount(world.through(world.accounts), ID, true);
  expect(await issueKey(world.through(world.accounts), ID, before)).toEqual({ kind: 'refused' });
});

/** The key is replaced just before a block is written, so often. */
const blockAmid = async (rotations: number) => {
  const world = accountWorld();
  await issueKey(world.through(world.accounts), ID, 'new');
  let left = rotations;
  const accounts = accountsThrough(async (method, call) => {
    if (method === 'setBlocked' && left > 0) {
      left -= 1;
      const hash = (await world.currentHash(ID)) ?? '';
      await rotateKey(world.through(world.accounts), { accountId: ID, keyId: keyIdOf(hash) });
    }
    return call();
  }, world.accounts);
  return { world, reply: await blockAccount(world.through(accounts), ID, true) };
};

test.each([0, 1, 4])(
  'OPS-5 a key that is replaced %i times meanwhile is blocked with its account',
  async (rotations) => {
    const { world, reply } = await blockAmid(rotations);
    expect([reply, world.ledger.statusOf(ID)]).toEqual(['set', 'blocked']);
    expect(await world.usableKeys()).toEqual([]);
  },
);

test('OPS-5 where the key changes all the time nothing is blocked, and that is told', async () => {
  const { world, reply } = await blockAmid(5);
  expect([reply, world.ledger.statusOf(ID)]).toEqual(['changing', 'active']);
  expect(await world.usableKeys()).toEqual([await world.currentHash(ID)]);
  expect(await blockAccount(world.through(world.accounts), 'nobody', true)).toBe('no-account');
});
