import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { listUsage } from '../../../../lambdas/core/ledger/usage.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { ID } from './ledger-scene.ts';
import { DAY, HOUR, NOVEMBER, usageScene } from './usage-scene.ts';

const runs = randomRuns(import.meta.filename, { quick: 60, long: 2_000 });

test('BILL-23 a request below the stored sums, after a clock was set back, is counted once', async () => {
  const { pay, clock, summarize, spent, memory } = await usageScene(NOVEMBER + 12 * HOUR);
  await pay(clock.now());
  await clock.advance(HOUR);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 } });
  expect(await spent()).toMatchObject({ picos: { k: 1n }, isComplete: true });
  await pay(NOVEMBER + 11 * HOUR, { amountPicos: 3n });
  expect(await memory.lateCharges(ID, 10)).toHaveLength(1);
  for (let time = 0; time < 2; time += 1) {
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 }, read: 0 });
    expect(await spent()).toEqual({ picos: { k: 4n }, isComplete: true, read: 0 });
  }
  expect(await memory.lateCharges(ID, 10)).toEqual([]);
});

test('BILL-23 a late request of a complete day is added to it', async () => {
  const { pay, clock, summarize, kept } = await usageScene(NOVEMBER + 30 * DAY);
  await pay(NOVEMBER);
  await pay(NOVEMBER + DAY);
  await summarize('2026-11-01', '2026-11-02');
  expect(await kept()).toContainEqual(['2026-11-01', true]);
  await clock.advance(-29 * DAY);
  await pay(NOVEMBER + 1);
  await clock.advance(29 * DAY);
  const both = { requests: { '2026-11-01': 2, '2026-11-02': 1 }, incompleteDays: [] };
  expect(await summarize('2026-11-01', '2026-11-02')).toMatchObject(both);
  expect(await summarize('2026-11-01', '2026-11-02')).toMatchObject(both);
});

test('BILL-23 a late request that its day has not reached yet is counted by the next read alone', async () => {
  const { pay, summarize, spent } = await usageScene(NOVEMBER + DAY);
  await pay(NOVEMBER + 10 * HOUR);
  await summarize('2026-11-01');
  await pay(NOVEMBER + 12 * HOUR);
  await spent();
  await pay(NOVEMBER + 11 * HOUR);
  for (let time = 0; time < 2; time += 1) {
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 3 } });
    expect(await spent()).toMatchObject({ picos: { k: 3n }, isComplete: true });
  }
});

test('BILL-23 a request without a charge is not a late charge', async () => {
  const { memory, charge, pay, summarize } = await usageScene(NOVEMBER + DAY);
  await charge(NOVEMBER + HOUR);
  await summarize('2026-11-01');
  await pay(NOVEMBER + 1, { outcome: 'released', amountPicos: 0n });
  expect(await memory.lateCharges(ID, 10)).toEqual([]);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 } });
});

test('BILL-23 many late requests are added by several calls, and their day is incomplete until then', async () => {
  const { charge, pay, summarize, spent } = await usageScene(NOVEMBER + DAY);
  await charge(NOVEMBER + HOUR);
  await summarize('2026-11-01');
  await spent();
  for (let index = 0; index < 1_900; index += 1) await pay(NOVEMBER + index);
  expect(await summarize('2026-11-01')).toMatchObject({ incompleteDays: ['2026-11-01'] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1_901 }, incompleteDays: [] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1_901 }, incompleteDays: [] });
  expect(await spent()).toMatchObject({ picos: { k: 1_901n }, isComplete: true });
});

test('BILL-23 a late request is in the summary while the store cannot add it to the sums', async () => {
  const { memory, charge, pay, summarize } = await usageScene(NOVEMBER + DAY);
  await charge(NOVEMBER + HOUR);
  await summarize('2026-11-01');
  await pay(NOVEMBER);
  const write = memory.keepUsageSums.bind(memory);
  memory.keepUsageSums = async () => {
    throw new StoreError('unavailable', 'slow');
  };
  const both = { requests: { '2026-11-01': 2 }, incompleteDays: [] };
  expect(await summarize('2026-11-01')).toMatchObject(both);
  memory.keepUsageSums = write;
  expect(await summarize('2026-11-01')).toMatchObject(both);
  expect(await memory.lateCharges(ID, 10)).toEqual([]);
});

test('BILL-23 a late request that is recorded while a summary reads is counted once', async () => {
  const { memory, charge, holdAt, summarize, clock } = await usageScene(NOVEMBER + DAY);
  await charge(NOVEMBER + HOUR);
  const listRecords = memory.listRecords.bind(memory);
  const placed: ChargeRecord[] = [];
  memory.listRecords = async (accountId, range) => {
    if (range.limit > 1 && placed.length === 0) {
      placed.push(await holdAt(NOVEMBER));
      for (const record of placed) await memory.putRecord(record);
    }
    return listRecords(accountId, range);
  };
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 } });
  for (const record of placed) await memory.apply(record, 5n, clock.now());
  for (let time = 0; time < 2; time += 1)
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 2 } });
});

const stepOf = fc.oneof(
  fc.record({ kind: fc.constant('begin' as const), aheadMs: fc.nat(3 * HOUR) }),
  fc.record({ kind: fc.constantFrom('record' as const, 'apply' as const), index: fc.nat(5) }),
  fc.record({ kind: fc.constantFrom('days' as const, 'keys' as const) }),
  fc.record({ kind: fc.constant('jump' as const), byMs: fc.integer({ min: -DAY, max: DAY }) }),
);
type Step = typeof stepOf extends fc.Arbitrary<infer One> ? One : never;

const readerCalls = ['listRecords', 'usageSums', 'countTo', 'lateCharges', 'keepUsageSums', 'readAccount'] as const;

/** Requests whose steps come between any two store calls of any number of readers. */
const racing = async (scheduler: fc.Scheduler) => {
  const scene = await usageScene(NOVEMBER + 3 * DAY);
  const { memory, clock } = scene;
  for (const name of readerCalls) {
    const call: (...values: never[]) => Promise<unknown> = memory[name].bind(memory);
    Object.assign(memory, { [name]: scheduler.scheduleFunction(call) });
  }
  const open: ChargeRecord[] = [];
  const recorded: ChargeRecord[] = [];
  const reads: Promise<unknown>[] = [];
  const takeFrom = (records: ChargeRecord[], index: number) => records.splice(index % Math.max(1, records.length), 1);
  const apply = (record: ChargeRecord) => memory.apply(record, 5n, clock.now());
  const record = async (one: ChargeRecord): Promise<void> => {
    await memory.putRecord(one);
    recorded.push(one);
  };
  const recordOne = async (index: number): Promise<void> => {
    for (const one of takeFrom(open, index)) await record(one);
  };
  const applyOne = async (index: number): Promise<void> => {
    for (const one of takeFrom(recorded, index)) await apply(one);
  };
  const run = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'jump':
        return clock.advance(step.byMs);
      case 'begin':
        open.push(await scene.holdAt(clock.now() + step.aheadMs));
        return;
      case 'record':
        return recordOne(step.index);
      case 'apply':
        return applyOne(step.index);
      case 'days':
        reads.push(scene.summarize('2026-10-25', '2026-11-12'));
        return;
      case 'keys':
        reads.push(scene.spent());
    }
  };
  const runUntilIdle = async <T>(pending: Promise<T>): Promise<T> => {
    await scheduler.waitFor(pending);
    return pending;
  };
  const check = async (): Promise<void> => {
    const { requests, incompleteDays } = await runUntilIdle(scene.summarize('2026-09-05', '2026-11-30'));
    const count = memory.recordsOf(ID).length;
    const total = Object.values(requests).reduce((sum: number, one) => sum + Number(one), 0);
    expect([total, incompleteDays]).toEqual([count, []]);
    const picos = count > 0 ? { k: BigInt(count) } : {};
    expect(await runUntilIdle(scene.spent())).toMatchObject({ picos, isComplete: true });
  };
  return { ...scene, open, recorded, reads, record, apply, run, runUntilIdle, check };
};

test('BILL-23 sums equal the receipts for any jumps of the clock and any order of concurrent calls', async () => {
  const play = async (steps: readonly Step[], scheduler: fc.Scheduler): Promise<void> => {
    const { open, recorded, reads, record, apply, run, runUntilIdle, check, clock } = await racing(scheduler);
    for (const step of steps) {
      await run(step);
      for (let turn = 0; turn < 3 && scheduler.count() > 0; turn += 1) await scheduler.waitOne();
    }
    await runUntilIdle(Promise.all(reads));
    for (const one of open) await record(one);
    await check();
    for (const one of recorded) await apply(one);
    await check();
    await clock.advance(5 * DAY);
    await check();
    await check();
  };
  const steps = fc.array(stepOf, { minLength: 6, maxLength: 50 });
  await fc.assert(fc.asyncProperty(steps, fc.scheduler(), play), runs);
});

test('BILL-15 the list of receipts has the late requests in the order of their ids', async () => {
  const { pay, summarize, deps } = await usageScene(NOVEMBER + DAY);
  await pay(NOVEMBER + HOUR);
  await summarize('2026-11-01');
  await pay(NOVEMBER);
  const { records } = await listUsage(deps.records, ID, { limit: 10 });
  expect(records.map(({ at }) => at)).toEqual([NOVEMBER + HOUR, NOVEMBER]);
});
