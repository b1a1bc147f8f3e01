import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import {
  createSpentByKey,
  daysBetween,
  spentByKey,
  summarizeDays,
} from '../../../../lambdas/core/ledger/usage-summary.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { ID } from './ledger-scene.ts';

const NOVEMBER = Date.UTC(2026, 10, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const scene = async (nowMs: number) => {
  const memory = new MemoryLedgerStore();
  const clock = new ManualClock(nowMs);
  await memory.createAccount(ID, NOVEMBER);
  await memory.credit({ accountId: ID, ref: 'first', amountPicos: 10n ** 9n, reason: 'test', at: NOVEMBER });
  const deps = { store: memory, records: memory, clock };
  let count = 0;
  const recordAt = (atMs: number, changes: Partial<ChargeRecord> = {}): ChargeRecord => {
    count += 1;
    const requestId = renderRequestId({ atMs, random: count });
    const holdId = `${requestId}.0`;
    return { accountId: ID, requestId, holdId, outcome: 'settled', amountPicos: 1n, at: atMs, keyId: 'k', ...changes };
  };
  const charge = async (atMs: number, changes: Partial<ChargeRecord> = {}) => memory.putRecord(recordAt(atMs, changes));
  const holdAt = async (atMs: number) => {
    const record = recordAt(atMs);
    const times = { expiresAtMs: atMs + DAY, sweepAtMs: atMs, previousHoldId: undefined };
    await memory.hold({ accountId: ID, holdId: record.holdId, amountPicos: 5n, ...times });
    return record;
  };
  /** Counts the records of each call. */
  const reads: number[] = [];
  const listRecords = memory.listRecords.bind(memory);
  memory.listRecords = async (accountId, range) => {
    const page = await listRecords(accountId, range);
    reads.push(page.records.length);
    return page;
  };
  const readCount = (): number => reads.splice(0).reduce((sum, length) => sum + length, 0);
  const summarize = async (fromDay: string, toDay = fromDay) => {
    const { days, incompleteDays } = (await summarizeDays(deps, ID, { fromDay, toDay })) ?? {};
    const requests = [...(days ?? [])].flatMap(([day, cells]) =>
      cells.length === 0 ? [] : [[day, cells.reduce((sum, cell) => sum + cell.requests, 0)] as const],
    );
    return { requests: Object.fromEntries(requests), incompleteDays, read: readCount() };
  };
  const kept = async () =>
    (await memory.usageSums(ID, '', '~')).map(({ period, fromId }) => [period, fromId === undefined] as const);
  return { memory, clock, deps, recordAt, charge, holdAt, summarize, kept, readCount };
};

test('BILL-23 the records of a day that is over are read once', async () => {
  const { charge, summarize, kept } = await scene(NOVEMBER + 2 * DAY);
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
  const { charge, summarize, clock, kept } = await scene(NOVEMBER + HOUR);
  await charge(NOVEMBER + 1);
  await charge(NOVEMBER + HOUR - 1);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 }, read: 2 });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 }, read: 1 });
  await clock.advance(DAY);
  await charge(NOVEMBER + HOUR + 1);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 }, read: 2 });
  expect(await kept()).toEqual([['2026-11-01', true]]);
});

test('BILL-23 a day stays open while a hold of it or of an earlier day is open', async () => {
  const { memory, charge, holdAt, summarize, clock, kept } = await scene(NOVEMBER + HOUR);
  const record = await holdAt(NOVEMBER + 5);
  await charge(NOVEMBER + 1);
  await charge(NOVEMBER + 9);
  await clock.advance(3 * DAY);
  await charge(NOVEMBER + DAY);
  expect(await summarize('2026-11-01', '2026-11-02')).toMatchObject({ requests: { '2026-11-01': 2, '2026-11-02': 1 } });
  expect(await kept()).toEqual([['2026-11-01', false]]);
  await memory.putRecord(record);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 }, read: 2 });
  await memory.apply(record, 5n, clock.now());
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 } });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 }, read: 0 });
});

test('BILL-23 a hold with an unknown form of id keeps every day open', async () => {
  const { memory, charge, summarize, kept } = await scene(NOVEMBER + 3 * DAY);
  await charge(NOVEMBER + 1);
  const times = { expiresAtMs: NOVEMBER, sweepAtMs: NOVEMBER, previousHoldId: undefined };
  await memory.hold({ accountId: ID, holdId: 'zzzzzzzz', amountPicos: 5n, ...times });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 1 });
  expect(await kept()).toEqual([]);
});

test('BILL-23 a call reads at most 5,000 records, and the next one continues', async () => {
  const { charge, summarize, kept } = await scene(NOVEMBER + 5 * DAY);
  for (let index = 0; index < 4_000; index += 1) await charge(NOVEMBER + index);
  for (let index = 0; index < 3_000; index += 1)
    await charge(NOVEMBER + DAY + index, index % 2 === 0 ? { outcome: 'released', amountPicos: 0n } : {});
  await charge(NOVEMBER + 2 * DAY);
  const days = ['2026-11-01', '2026-11-02', '2026-11-03'] as const;
  const first = await summarize(days[0], days[2]);
  expect(first.read).toBeLessThanOrEqual(5_000);
  expect(first.incompleteDays).toEqual([days[1], days[2]]);
  expect(first.requests[days[0]]).toBe(4_000);
  expect(await kept()).toEqual([
    [days[0], true],
    [days[1], false],
  ]);
  const second = await summarize(days[0], days[2]);
  expect(second.read).toBeLessThan(2_200);
  expect(second).toMatchObject({ requests: { [days[0]]: 4_000, [days[1]]: 1_500, [days[2]]: 1 }, incompleteDays: [] });
  expect(await summarize(days[0], days[2])).toEqual({ ...second, read: 0 });
});

test('BILL-23 a day of many requests without a charge makes progress too', async () => {
  const { charge, summarize } = await scene(NOVEMBER + 5 * DAY);
  for (let index = 0; index < 7_000; index += 1)
    await charge(NOVEMBER + index, { outcome: 'released', amountPicos: 0n });
  await charge(NOVEMBER + 8_000);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: {}, incompleteDays: ['2026-11-01'] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, incompleteDays: [] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 0 });
});

test('BILL-23 a range in the middle of another one leaves its sums to the larger one', async () => {
  const { charge, summarize } = await scene(NOVEMBER + 9 * DAY);
  for (let day = 0; day < 6; day += 1) await charge(NOVEMBER + day * DAY);
  expect(await summarize('2026-11-03', '2026-11-04')).toMatchObject({ read: 2 });
  const all = await summarize('2026-11-01', '2026-11-06');
  expect([Object.keys(all.requests).length, all.read, all.incompleteDays]).toEqual([6, 4, []]);
});

test('BILL-23 a failed write of sums does not fail the summary', async () => {
  const { memory, charge, summarize } = await scene(NOVEMBER + 2 * DAY);
  await charge(NOVEMBER);
  memory.keepUsageSums = async () => {
    throw new StoreError('unavailable', 'slow');
  };
  for (let time = 0; time < 2; time += 1)
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 1 });
});

test('BILL-23 the spend of keys is read once, and includes the newest requests', async () => {
  const { deps, charge, clock, readCount } = await scene(NOVEMBER + HOUR);
  await charge(NOVEMBER + 1, { amountPicos: 3n });
  await charge(NOVEMBER + 2, { amountPicos: 4n, keyId: 'other' });
  await charge(NOVEMBER + HOUR - 1, { amountPicos: 5n });
  const spent = async () => {
    const { picos, isComplete } = await spentByKey(deps, ID);
    return [Object.fromEntries(picos), isComplete, readCount()];
  };
  expect(await spent()).toEqual([{ k: 8n, other: 4n }, true, 3]);
  expect(await spent()).toEqual([{ k: 8n, other: 4n }, true, 1]);
  await clock.advance(HOUR);
  expect(await spent()).toEqual([{ k: 8n, other: 4n }, true, 1]);
  expect(await spent()).toEqual([{ k: 8n, other: 4n }, true, 0]);
  await charge(clock.now(), { amountPicos: 1n });
  expect(await spent()).toEqual([{ k: 9n, other: 4n }, true, 1]);
  expect(await spentByKey(deps, 'unknown')).toEqual({ picos: new Map(), isComplete: true });
});

test('BILL-23 the spend of keys skips a long history of releases without keys', async () => {
  const { memory, deps, charge, recordAt, readCount } = await scene(NOVEMBER + 40 * DAY);
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
  const { deps, charge, readCount } = await scene(NOVEMBER + DAY);
  for (let index = 0; index < 7_000; index += 1) await charge(NOVEMBER + index);
  const first = await spentByKey(deps, ID);
  expect([first.isComplete, (first.picos.get('k') ?? 0n) > 4_400n, readCount() <= 5_000]).toEqual([false, true, true]);
  expect(await spentByKey(deps, ID)).toEqual({ picos: new Map([['k', 7_000n]]), isComplete: true });
  readCount();
  await spentByKey(deps, ID);
  expect(readCount()).toBe(0);
});

test('KEY-8 the charges of keys are unknown until every record is read', async () => {
  const { deps, charge } = await scene(NOVEMBER + DAY);
  for (let index = 0; index < 7_000; index += 1) await charge(NOVEMBER + index);
  const ofKeys = createSpentByKey(deps);
  expect(await ofKeys(ID)).toBeUndefined();
  expect(await ofKeys(ID)).toEqual(new Map([['k', 7_000n]]));
});

test('BILL-23 days between two days include both, also at the end of the calendar', () => {
  expect(daysBetween('2026-02-27', '2026-03-02')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
  expect(daysBetween('9999-12-31', '9999-12-31')).toEqual(['9999-12-31']);
});
