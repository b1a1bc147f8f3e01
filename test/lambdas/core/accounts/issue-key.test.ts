import { describe, expect, test } from 'vitest';
import { blockAccount } from '../../../../lambdas/core/accounts/block-account.ts';
import { issueKey } from '../../../../lambdas/core/accounts/issue-key.ts';
import type { CurrentKey } from '../../../../lambdas/core/accounts/key-ring.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { type AccountMethod, type AccountWorld, accountWorld, hashOf, storesThrough } from './account-world.ts';

const ID = 'account-1';
/** States in which an account has no working key. */
const states = ['none', 'open', 'revoked'] as const;
type State = (typeof states)[number];

const reach = async (state: State): Promise<{ world: AccountWorld; before: CurrentKey | undefined | 'new' }> => {
  const world = accountWorld();
  if (state === 'none') return { world, before: 'new' };
  if (state === 'open') {
    await world.ledger.createAccount(ID, 0);
    return { world, before: undefined };
  }
  const issued = await issueKey(world.through(), ID, 'new');
  if (issued.kind !== 'issued') throw new Error('no key');
  await world.keys.revokeKey(ID, issued.made.key.hash);
  return { world, before: await world.keys.currentKey(ID) };
};

const writes: Record<State, AccountMethod> = { none: 'open', open: 'putFirstKey', revoked: 'replaceKey' };

describe.each(states)('an account whose key is: %s', (state) => {
  test('OPS-5 the account gets a key, and only that key is admitted', async () => {
    const { world, before } = await reach(state);
    const issued = await issueKey(world.through(), ID, before);
    if (issued.kind !== 'issued') throw new Error(issued.kind);
    expect(await world.currentHash(ID)).toBe(hashOf(issued.made.apiKey));
    expect(await world.usableKeys()).toEqual([issued.made.key.hash]);
    // The operator has shown this key, so a start must not replace it.
    expect(await world.keys.currentKey(ID)).toMatchObject({ isShown: true, isRevoked: false });
    expect((await world.ledger.readAccount(ID))?.availablePicos).toBe(0n);
  });

  test('OPS-5 a written key is returned even if every later read fails', async () => {
    const { world, before } = await reach(state);
    const { issue } = world.process({ currentKey: [fails, fails, fails, fails, fails] });
    expect(await issue(ID, before)).toMatchObject({
      kind: 'issued',
      made: { key: { hash: await world.currentHash(ID) } },
    });
  });

  test("OPS-5 of two concurrent operators, the second gets only the label of the first one's key", async () => {
    const { world, before } = await reach(state);
    let rivals = 0;
    const stores = storesThrough(async (method, call) => {
      if (method === writes[state] && rivals === 0) {
        rivals += 1;
        await issueKey(world.through(), ID, before);
      }
      return call();
    }, world);
    const issued = await issueKey(world.through(stores), ID, before);
    expect(rivals).toBe(1);
    expect(issued).toMatchObject({ kind: 'has-key', current: { hash: await world.currentHash(ID) } });
    expect(await world.usableKeys()).toEqual([await world.currentHash(ID)]);
  });

  test('OPS-5 a key whose write lost its reply is still returned', async () => {
    const { world, before } = await reach(state);
    const { issue } = world.process({ [writes[state]]: [losesReply] });
    const issued = await issue(ID, before);
    expect(issued).toMatchObject({ kind: 'issued', made: { key: { hash: await world.currentHash(ID) } } });
  });
});

test.each(['open', 'revoked'] as const)('OPS-5 a blocked account whose key is %s gets no key', async (state) => {
  const { world, before } = await reach(state);
  await blockAccount(world.through(), ID, true);
  expect(await issueKey(world.through(), ID, before)).toEqual({ kind: 'refused' });
  expect(await world.usableKeys()).toEqual([]);
});
