import { expect, test } from 'vitest';
import { ID } from './ledger-scene.ts';
import { DAY, HOUR, NOVEMBER, usageScene } from './usage-scene.ts';

test('BILL-23 an open hold keeps no other request from being read once', async () => {
  const { memory, charge, holdAt, summarize, spent, clock, kept } = await usageScene(NOVEMBER + HOUR);
  const record = await holdAt(NOVEMBER + 5);
  await charge(NOVEMBER + 1);
  await charge(NOVEMBER + 9);
  await clock.advance(3 * DAY);
  await charge(NOVEMBER + DAY);
  const days = ['2026-11-01', '2026-11-02'] as const;
  const before = { requests: { '2026-11-01': 2, '2026-11-02': 1 }, incompleteDays: [] };
  expect(await summarize(...days)).toEqual({ ...before, read: 3 });
  expect(await summarize(...days)).toEqual({ ...before, read: 0 });
  expect(await spent()).toMatchObject({ picos: { k: 3n }, isComplete: true });
  expect(await kept()).toEqual([
    ['2026-11-01', true],
    ['2026-11-02', false],
    ['keys', false],
  ]);
  await memory.putRecord(record);
  const after = { requests: { '2026-11-01': 3, '2026-11-02': 1 }, incompleteDays: [], read: 0 };
  expect(await summarize(...days)).toEqual(after);
  expect(await spent()).toEqual({ picos: { k: 4n }, isComplete: true, read: 0 });
  await memory.apply(record, 5n, clock.now());
  for (let time = 0; time < 2; time += 1) {
    expect(await summarize(...days)).toEqual(after);
    expect(await spent()).toEqual({ picos: { k: 4n }, isComplete: true, read: 0 });
  }
});

test('BILL-23 a charge that is recorded while its hold is open is counted once', async () => {
  const { memory, holdAt, summarize, close, clock } = await usageScene(NOVEMBER + DAY);
  const record = await holdAt(NOVEMBER + 5);
  await memory.putRecord(record);
  for (let time = 0; time < 2; time += 1)
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 } });
  await close(record);
  await clock.advance(DAY);
  for (let time = 0; time < 2; time += 1)
    expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 } });
});

test('BILL-23 a hold with an unknown form of id stops nothing', async () => {
  const { memory, charge, summarize, kept } = await usageScene(NOVEMBER + 3 * DAY);
  await charge(NOVEMBER + 1);
  const times = { expiresAtMs: NOVEMBER, sweepAtMs: NOVEMBER, previousHoldId: undefined };
  await memory.hold({ accountId: ID, holdId: 'zzzzzzzz', amountPicos: 5n, ...times });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 1 });
  expect(await kept()).toEqual([['2026-11-01', false]]);
});

test('BILL-23 any number of new requests is summed after enough calls, while a hold is open', async () => {
  const { charge, holdAt, close, clock, summarize, spent } = await usageScene(NOVEMBER);
  const video = await holdAt(NOVEMBER);
  for (let index = 0; index < 6_000; index += 1) await charge(NOVEMBER + 1 + index);
  await clock.advance(60_000);
  const calls = [];
  for (let call = 0; call < 4; call += 1) {
    const { requests, incompleteDays, read } = await summarize('2026-11-01');
    expect(read).toBeLessThanOrEqual(5_000);
    calls.push([requests['2026-11-01'], incompleteDays?.length]);
  }
  expect(calls).toEqual([
    [5_000, 1],
    [5_000, 1],
    [6_000, 0],
    [6_000, 0],
  ]);
  expect(await spent()).toMatchObject({ picos: { k: 4_500n }, isComplete: false });
  expect(await spent()).toMatchObject({ picos: { k: 6_000n }, isComplete: true });
  await close({ ...video, amountPicos: 4n });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 6_001 } });
  expect(await spent()).toMatchObject({ picos: { k: 6_004n }, isComplete: true });
});

test('BILL-23 a call reads at most 5,000 records, and the next one continues', async () => {
  const { charge, summarize, kept } = await usageScene(NOVEMBER + 5 * DAY);
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
  const { charge, summarize } = await usageScene(NOVEMBER + 5 * DAY);
  for (let index = 0; index < 7_000; index += 1)
    await charge(NOVEMBER + index, { outcome: 'released', amountPicos: 0n });
  await charge(NOVEMBER + 8_000);
  expect(await summarize('2026-11-01')).toMatchObject({ requests: {}, incompleteDays: ['2026-11-01'] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, incompleteDays: [] });
  expect(await summarize('2026-11-01')).toMatchObject({ requests: { '2026-11-01': 1 }, read: 0 });
});

test('BILL-23 a range in the middle of another one leaves its sums to the larger one', async () => {
  const { charge, summarize } = await usageScene(NOVEMBER + 9 * DAY);
  for (let day = 0; day < 6; day += 1) await charge(NOVEMBER + day * DAY);
  expect(await summarize('2026-11-03', '2026-11-04')).toMatchObject({ read: 2 });
  const all = await summarize('2026-11-01', '2026-11-06');
  expect([Object.keys(all.requests).length, all.read, all.incompleteDays]).toEqual([6, 4, []]);
});
