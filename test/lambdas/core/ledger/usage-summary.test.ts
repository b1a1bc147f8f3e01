import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import { createSpentByKey, spentByKey } from '../../../../lambdas/core/ledger/usage-summary.ts';
import { ID } from './ledger-scene.ts';
import { DAY, HOUR, NOVEMBER, usageScene } from './usage-scene.ts';

test('BILL-23 the records of a day that is over are read once', async () => {
  const { charge, summarize, kept } = await usageScene(NOVEMBER + 2 * DAY);
  for (let index = 0; index < 30; index += 1) await charge(NOVEMBER + index * HOUR);
  const first = { requests: { '2026-11-01': 24, '2026-11-02': 6 }, incompleteDays: [] };
  expect(await summarize('2026-11-01', '2026-11-03')).toEqual({ ...first, read: 30 });
  expect(await kept()).toEqual([
    ['2026-11-01', true],
    ['2026-11-02', false],
  ]);
  expect(await summarize('2026-11-01', '2026-11-03')).toEqual({ ...first, read: 0 });
});

test('BILL-23 requests of the last quarter of an hour are read again, and earlier ones are not', async () => {
  const { charge, summarize, clock, kept } = await usageScene(NOVEMBER + HOUR);
  await charge(NOVEMBER + 1);
  await charge(NOVEMBER + HOUR - 1);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 }, read: 2 });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 }, read: 1 });
  await clock.advance(DAY);
  await charge(NOVEMBER + HOUR + 1);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 }, read: 2 });
  expect(await kept()).toEqual([['2026-11-01', false]]);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 }, read: 0 });
});

test('BILL-23 a failed write of sums does not fail the summary', async () => {
  const { memory, charge, summarize } = await usageScene(NOVEMBER + 2 * DAY);
  await charge(NOVEMBER);
  memory.keepUsageSums = async () => {
    throw new StoreError('unavailable', 'slow');
  };
  for (let time = 0; time < 2; time += 1)
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 1 });
});

test('BILL-23 the spend of keys is read once, and includes the newest requests', async () => {
  const { deps, charge, clock, spent } = await usageScene(NOVEMBER + HOUR);
  await charge(NOVEMBER + 1, { amountPicos: 3n });
  await charge(NOVEMBER + 2, { amountPicos: 4n, keyId: 'other' });
  await charge(NOVEMBER + HOUR - 1, { amountPicos: 5n });
  expect(await spent()).toEqual({ picos: { k: 8n, other: 4n }, isComplete: true, read: 3 });
  expect(await spent()).toEqual({ picos: { k: 8n, other: 4n }, isComplete: true, read: 1 });
  await clock.advance(HOUR);
  expect(await spent()).toEqual({ picos: { k: 8n, other: 4n }, isComplete: true, read: 1 });
  expect(await spent()).toEqual({ picos: { k: 8n, other: 4n }, isComplete: true, read: 0 });
  await charge(clock.now(), { amountPicos: 1n });
  expect(await spent()).toEqual({ picos: { k: 9n, other: 4n }, isComplete: true, read: 1 });
  expect(await spentByKey(deps, 'unknown')).toEqual({ picos: new Map(), isComplete: true });
});

test('BILL-23 the spend of keys skips a long history of releases without keys', async () => {
  const { memory, deps, charge, recordAt, readCount } = await usageScene(NOVEMBER + 40 * DAY);
  for (let index = 0; index < 9_000; index += 1) {
    const { keyId: _keyId, ...record } = recordAt(NOVEMBER + index * 300_000);
    await memory.putRecord(record);
  }
  for (let index = 0; index < 30; index += 1) await charge(NOVEMBER + 32 * DAY + index);
  expect(await spentByKey(deps, ID)).toEqual({ picos: new Map([['k', 30n]]), isComplete: true });
  expect(readCount()).toBeLessThan(1_200);
  expect(await spentByKey(deps, ID)).toEqual({ picos: new Map([['k', 30n]]), isComplete: true });
  expect(readCount()).toBe(0);
});

test('BILL-23 the spend of keys of a long history is complete after several calls', async () => {
  const { deps, charge, readCount } = await usageScene(NOVEMBER + DAY);
  for (let index = 0; index < 7_000; index += 1) await charge(NOVEMBER + index);
  const first = await spentByKey(deps, ID);
  expect([first.isComplete, (first.picos.get('k') ?? 0n) > 4_400n, readCount() <= 5_000]).toEqual([false, true, true]);
  expect(await spentByKey(deps, ID)).toEqual({ picos: new Map([['k', 7_000n]]), isComplete: true });
  readCount();
  await spentByKey(deps, ID);
  expect(readCount()).toBe(0);
});

test('KEY-8 the charges of keys are unknown until every record is read', async () => {
  const { deps, charge } = await usageScene(NOVEMBER + DAY);
  for (let index = 0; index < 7_000; index += 1) await charge(NOVEMBER + index);
  const ofKeys = createSpentByKey(deps);
  expect(await ofKeys(ID)).toBeUndefined();
  expect(await ofKeys(ID)).toEqual(new Map([['k', 7_000n]]));
});
