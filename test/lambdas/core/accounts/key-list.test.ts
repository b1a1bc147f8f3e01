import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { placeHold } from '../../../../lambdas/core/ledger/hold.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { MemoryOutbox } from '../../../support/memory/memory-outbox.ts';
import { ACCOUNT, keyWorld } from './key-world.ts';

const USD = PICOS_PER_USD;
const HOUR = 3_600_000;

test('KEY-8 the list has the last use and what a key has spent and holds', async () => {
  const world = await keyWorld();
  const capped = await world.create({ name: 'Capped', limitPicos: 5n * USD, limitPeriod: 'month' });
  const { apiKey } = await world.create({ name: 'Free' });
  const usedAtMs = world.clock.now();
  const { cap } = await world.admit(capped.apiKey);
  await placeHold(
    { store: world.ledger, outbox: new MemoryOutbox(), clock: world.clock, random: () => 0, shortestLifetimeMs: HOUR },
    {
      accountId: ACCOUNT,
      requestId: '01KAJ2Z8D5M8R3V0C7Q4T9XW1B',
      amountPicos: 2n * USD,
      expiresAtMs: usedAtMs + HOUR,
      cap,
    },
  );
  await world.clock.advance(HOUR);
  const [first, one, two] = await world.list();
  expect(first).toMatchObject({ lastUsedAtMs: undefined, spentPicos: undefined, cap: undefined });
  expect(one).toMatchObject({ lastUsedAtMs: usedAtMs, spentPicos: 0n, cap: { heldPicos: 2n * USD, kind: 'month' } });
  expect(two?.lastUsedAtMs).toBeUndefined();
  await world.admit(apiKey);
  const spentByKey = async (_account: string, keyIds: readonly string[]) => new Map([[keyIds[1] ?? '', 7n]]);
  expect(await world.list(world.first, { spentByKey })).toMatchObject([
    { spentPicos: 0n },
    { spentPicos: 0n },
    { spentPicos: 7n, lastUsedAtMs: world.clock.now() },
  ]);
});

test('KEY-8 the list is shown without the charges that cannot be read now', async () => {
  const world = await keyWorld();
  const failing = (error: Error) => ({ spentByKey: () => Promise.reject(error) });
  const down = await world.list(world.first, failing(new StoreError('unavailable', 'slow')));
  expect(down).toMatchObject([{ isFirst: true, spentPicos: undefined }]);
  await expect(world.list(world.first, failing(new Error('bug')))).rejects.toThrow('bug');
});
