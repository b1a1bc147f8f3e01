import { expect, test } from 'vitest';
import { blockAccount } from '../../../../lambdas/core/accounts/block-account.ts';
import { issueKey, rotateKey } from '../../../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { fails, losesReply } from '../../../support/memory/faults.ts';
import { accountWorld, storesThrough } from './account-world.ts';

const ID = 'account-1';

test.each([
  ['fails', fails],
  ['loses its reply', losesReply],
])('OPS-5 an account and its key are blocked and unblocked together, even if a write %s', async (_, fault) => {
  const world = accountWorld();
  await issueKey(world.through(), ID, 'new');
  const key = await world.currentHash(ID);
  const seen = [];
  for (const isBlocked of [true, false]) {
    const { block } = world.process({ setBlocked: [fault] });
    seen.push([await block(ID, isBlocked), world.ledger.statusOf(ID), await world.usableKeys()]);
  }
  expect(seen).toEqual([
    ['set', 'blocked', []],
    ['set', 'active', [key]],
  ]);
});

/** Replaces the key `rotations` times, each time just before a block is written. */
const blockAmid = async (rotations: number) => {
  const world = accountWorld();
  await issueKey(world.through(), ID, 'new');
  let left = rotations;
  const stores = storesThrough(async (method, call) => {
    if (method === 'setBlocked' && left > 0) {
      left -= 1;
      const hash = (await world.currentHash(ID)) ?? '';
      await rotateKey(world.through(), { accountId: ID, keyId: keyIdOf(hash) });
    }
    return call();
  }, world);
  return { world, reply: await blockAccount(world.through(stores), ID, true) };
};

test.each([0, 1, 4])(
  'OPS-5 a key that is replaced %i times during the block is blocked with its account',
  async (rotations) => {
    const { world, reply } = await blockAmid(rotations);
    expect([reply, world.ledger.statusOf(ID)]).toEqual(['set', 'blocked']);
    expect(await world.usableKeys()).toEqual([]);
  },
);

test('OPS-5 if the key keeps changing, nothing is blocked and the result says so', async () => {
  const { world, reply } = await blockAmid(5);
  expect([reply, world.ledger.statusOf(ID)]).toEqual(['changing', 'active']);
  expect(await world.usableKeys()).toEqual([await world.currentHash(ID)]);
  expect(await blockAccount(world.through(), 'unknown', true)).toBe('no-account');
});
