import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { createRecentSpend } from '../../../../lambdas/core/ledger/recent-spend.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { ID } from './ledger-scene.ts';

const NOW = Date.UTC(2026, 10, 2);

const scene = async () => {
  const memory = new MemoryLedgerStore();
  const clock = new ManualClock(NOW);
  await memory.createAccount(ID, NOW);
  let count = 0;
  const charge = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      count += 1;
      const requestId = renderRequestId({ atMs: clock.now() - 1, random: count });
      const record = { accountId: ID, requestId, holdId: `${requestId}.0`, amountPicos: 2n, at: clock.now() };
      await memory.putRecord({ ...record, outcome: 'settled', keyId: 'k' });
    }
  };
  return { memory, clock, charge, spend: createRecentSpend({ store: memory, records: memory, clock }) };
};

test('KEY-8 the charges of keys are at most a minute late', async () => {
  const { clock, charge, spend } = await scene();
  await charge();
  expect(await spend(ID)).toEqual(new Map([['k', 2n]]));
  await charge();
  await clock.advance(59_999);
  expect(await spend(ID)).toEqual(new Map([['k', 2n]]));
  await clock.advance(1);
  expect(await spend(ID)).toEqual(new Map([['k', 4n]]));
});

test('KEY-8 incomplete charges of keys are undefined, and the next call continues', async () => {
  const { clock, charge, spend } = await scene();
  await charge(7_000);
  await clock.advance(3_600_000);
  expect(await spend(ID)).toBeUndefined();
  expect(await spend(ID)).toEqual(new Map([['k', 14_000n]]));
});

test('KEY-8 a failed read of the charges of keys is thrown, and is not kept', async () => {
  const { memory, charge, spend } = await scene();
  await charge();
  const { listRecords } = memory;
  memory.listRecords = async () => {
    throw new StoreError('unavailable', 'slow');
  };
  await expect(spend(ID)).rejects.toThrow('slow');
  memory.listRecords = listRecords;
  expect(await spend(ID)).toEqual(new Map([['k', 2n]]));
});

test('KEY-8 the charges of keys are read again after the clock was set back', async () => {
  const { clock, charge, spend } = await scene();
  await charge();
  await clock.advance(3_600_000);
  expect(await spend(ID)).toEqual(new Map([['k', 2n]]));
  await charge();
  await clock.advance(-3_000_000);
  expect(await spend(ID)).toEqual(new Map([['k', 4n]]));
});
