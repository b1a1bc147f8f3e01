import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockAccount } from '../../../../lambdas/core/accounts/block-account.ts';
import { type Started, startChat } from '../../../../lambdas/core/accounts/chats.ts';
import { rotateKey } from '../../../../lambdas/core/accounts/issue-key.ts';
import { keyIdOf } from '../../../../lambdas/core/accounts/keys.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { accountWorld, CHAT, hashOf, START_CREDIT, storesThrough } from './account-world.ts';

const runs = randomRuns(import.meta.filename, { quick: 60, long: 3_000 });

/** Delays every store call until the scheduler releases it, so that calls interleave at random. */
const scheduledWorld = (scheduler: fc.Scheduler) => {
  const world = accountWorld();
  const stores = storesThrough(async (method, call) => {
    await scheduler.schedule(Promise.resolve(), method);
    return call();
  }, world);
  return { ...world, deps: world.through(stores), scheduled: stores.keys };
};

const hashesOf = (told: readonly (Started | undefined)[]): readonly string[] =>
  told.flatMap((one) => (one?.kind === 'key' ? [one.hash] : []));

test('KEY-1 concurrent starts make one account, one credit and one usable key, and return it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 4 }), async (scheduler, count) => {
      const world = scheduledWorld(scheduler);
      const starts = Promise.all(Array.from({ length: count }, () => startChat(world.deps, CHAT)));
      await scheduler.waitFor(starts);
      const told = await starts;
      const [accountId = '', ...others] = new Set(told.map((one) => one.accountId));
      expect(others).toEqual([]);
      expect(world.ledger.accounts().map(({ id, creditedPicos }) => [id, creditedPicos])).toEqual([
        [accountId, START_CREDIT],
      ]);
      const usable = await world.usableKeys();
      expect(usable).toEqual([await world.currentHash(accountId)]);
      expect(hashesOf(told)).toEqual(expect.arrayContaining([...usable]));
    }),
    runs,
  );
});

test('KEY-2 interleaved key changes leave at most one usable key, and none in a blocked account', async () => {
  const deeds = fc.array(fc.constantFrom('rotate', 'start', 'revoke', 'block'), { minLength: 2, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), deeds, fc.boolean(), async (scheduler, chosen, isShown) => {
      const world = scheduledWorld(scheduler);
      const first = await world.process().start();
      if (first.kind !== 'key') throw new Error('no key');
      const { accountId, hash } = first;
      if (isShown) await world.keys.markShown(accountId, hash);
      const acts: Record<string, () => Promise<string | undefined>> = {
        rotate: async () => hashOf((await rotateKey(world.deps, { accountId, keyId: keyIdOf(hash) })).apiKey),
        start: async () => hashesOf([await startChat(world.deps, CHAT)])[0],
        revoke: async () => void (await world.scheduled.revokeKey(accountId, hash)),
        block: async () => void (await blockAccount(world.deps, accountId, true)),
      };
      const pending = Promise.allSettled(chosen.map((deed) => acts[deed]?.()));
      await scheduler.waitFor(pending);
      const usable = await world.usableKeys();
      const current = await world.keys.currentKey(accountId);
      const isBlocked = world.ledger.statusOf(accountId) === 'blocked';
      expect(isBlocked).toBe(chosen.includes('block'));
      expect(usable).toEqual(isBlocked || current?.isRevoked ? [] : [current?.hash]);
      const settled = await pending;
      const told = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      if (current && current.hash !== hash) expect(told).toContain(current.hash);
      for (const one of settled) {
        if (one.status === 'rejected') expect(['key_already_rotated', 'account_blocked']).toContain(one.reason.code);
      }
      expect(await world.audit(accountId)).toMatchObject({ findings: [] });
    }),
    runs,
  );
});
