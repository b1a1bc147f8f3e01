import { expect, test } from 'vitest';
import { StoreError } from '../../../../lambdas/core/errors/store-error.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { readStatement, type StatementDependencies } from '../../../../lambdas/core/ledger/statement.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';

const ID = 'account-1';
const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const DAY = 86_400_000;

const scene = async (createdMs = NOVEMBER) => {
  const memory = new MemoryLedgerStore();
  const clock = new ManualClock(createdMs);
  await memory.createAccount(ID, createdMs);
  await memory.credit({ accountId: ID, ref: 'first', amountPicos: 1_000n, reason: 'test', at: createdMs });
  const deps: StatementDependencies = { store: memory, records: memory, clock, random: () => 0 };
  let count = 0;
  /** A request at `startMs` that was charged at `atMs` and applied at `appliedMs`. */
  const charge = async (startMs: number, atMs = startMs, appliedMs = atMs, model: string | undefined = 'alpha-1') => {
    count += 1;
    const requestId = renderRequestId({ atMs: startMs, random: count });
    const holdId = `${requestId}.0`;
    const times = { expiresAtMs: startMs, sweepAtMs: startMs, previousHoldId: undefined };
    await memory.hold({ accountId: ID, holdId, amountPicos: 10n, ...times });
    const outcome = { outcome: 'settled', amountPicos: 3n, at: atMs, ...(model !== undefined && { model }) } as const;
    const record: ChargeRecord = { accountId: ID, holdId, requestId, ...outcome };
    await memory.putRecord(record);
    await memory.apply(record, 10n, appliedMs);
  };
  const read = async (month: string) => {
    const reply = await readStatement(deps, ID, month);
    if (reply.kind !== 'statement') throw new Error(reply.kind);
    return reply.statement;
  };
  return { memory, clock, deps, charge, read };
};

test('BILL-22 the present month is open, and its statement follows the account', async () => {
  const { charge, read } = await scene();
  await charge(NOVEMBER);
  const first = { status: 'open', openingPicos: 0n, creditsPicos: 1_000n, chargesPicos: 3n, closingPicos: 997n };
  expect(await read('2026-11')).toMatchObject(first);
  await charge(NOVEMBER + 1);
  expect(await read('2026-11')).toMatchObject({ ...first, chargesPicos: 6n, closingPicos: 994n, otherMonthPicos: 0n });
});

test('BILL-22 charges are summed by model, also without one', async () => {
  const { charge, read } = await scene();
  for (const model of ['beta-2', undefined, 'alpha-1', 'beta-2']) {
    await charge(NOVEMBER + 1, NOVEMBER + 1, NOVEMBER + 1, model ?? '');
  }
  expect((await read('2026-11')).charges).toEqual([
    { model: '', requests: 1, amountPicos: 3n },
    { model: 'alpha-1', requests: 1, amountPicos: 3n },
    { model: 'beta-2', requests: 2, amountPicos: 6n },
  ]);
});

test('BILL-22 a request of the month before that ends in the month is one of its charges', async () => {
  const { charge, read, clock } = await scene();
  await charge(DECEMBER - 2 * DAY, DECEMBER + 1);
  await charge(DECEMBER - 1, DECEMBER - 1, DECEMBER + 2);
  await clock.advance(40 * DAY);
  const december = await read('2026-12');
  expect([december.chargesPicos, december.charges, december.otherMonthPicos]).toEqual([
    6n,
    [{ model: 'alpha-1', requests: 1, amountPicos: 3n }],
    3n,
  ]);
  const november = await read('2026-11');
  expect([november.chargesPicos, november.charges[0]?.amountPicos, november.otherMonthPicos]).toEqual([0n, 3n, -3n]);
});

test('BILL-22 a record that is written after the first read of a closed month does not change it', async () => {
  const { charge, read, clock } = await scene();
  await charge(NOVEMBER + 1);
  await clock.advance(31 * DAY);
  const before = await read('2026-11');
  await charge(DECEMBER - 5, DECEMBER - 5, clock.now());
  expect(await read('2026-11')).toEqual(before);
  expect(await read('2026-12')).toMatchObject({ chargesPicos: 3n, charges: [], otherMonthPicos: 3n });
});

test('BILL-22 an idle month has the balance of the one before', async () => {
  const { charge, read, clock } = await scene();
  await charge(NOVEMBER + 1);
  await clock.advance(100 * DAY);
  for (const month of ['2026-12', '2027-01']) {
    const empty = { status: 'closed', chargesPicos: 0n, heldPicos: 0n, charges: [], changes: [] };
    expect(await read(month)).toMatchObject({ ...empty, openingPicos: 997n, closingPicos: 997n });
  }
});

test('BILL-22 months before the account and after the present have no statement', async () => {
  const { deps, clock } = await scene();
  expect(await readStatement(deps, ID, '2026-10')).toEqual({ kind: 'before-first', firstMonth: '2026-11' });
  expect(await readStatement(deps, ID, '2026-12')).toEqual({ kind: 'future', presentMonth: '2026-11' });
  expect(await readStatement(deps, 'unknown', '2026-11')).toEqual({ kind: 'no-account' });
  await clock.advance(60 * DAY);
  expect(await readStatement(deps, ID, '2026-10')).toEqual({ kind: 'before-first', firstMonth: '2026-11' });
});

test('BILL-22 statements of an account of an earlier release start in the month of its first write', async () => {
  const { memory, deps, charge, clock, read } = await scene();
  await charge(NOVEMBER + 1);
  memory.forgetMonth(ID);
  await clock.advance(10 * DAY);
  expect(await readStatement(deps, ID, '2026-10')).toEqual({ kind: 'before-first', firstMonth: '2026-11' });
  await charge(clock.now() + 1);
  // The earlier charge is part of the opening balance.
  const start = { openingPicos: 997n, creditsPicos: 0n, chargesPicos: 3n, closingPicos: 994n, otherMonthPicos: 0n };
  expect(await read('2026-11')).toMatchObject(start);
  await clock.advance(40 * DAY);
  expect(await read('2026-11')).toMatchObject({ ...start, status: 'closed' });
});

test('BILL-22 a statement that loses a race at the end of a month is read again', async () => {
  const { memory, deps, clock } = await scene();
  let left = 2;
  const store = {
    closeMonths: async (accountId: string, nowMs: number) => {
      left -= 1;
      if (left >= 0) throw new StoreError('conflict', 'another write came first');
      return memory.closeMonths(accountId, nowMs);
    },
  };
  const pending = readStatement({ ...deps, store }, ID, '2026-11');
  await clock.advance(5_000);
  expect(await pending).toMatchObject({ kind: 'statement' });
});

test('BILL-22 the read of charges starts three days before the month and ends with it', async () => {
  const { memory, deps, clock } = await scene(NOVEMBER - 40 * DAY);
  const ranges: (readonly [string | undefined, string | undefined])[] = [];
  const listRecords: StatementDependencies['records']['listRecords'] = async (accountId, range) => {
    ranges.push([range.fromHoldId, range.beforeHoldId]);
    return memory.listRecords(accountId, range);
  };
  await clock.advance(80 * DAY);
  const records: StatementDependencies['records'] = {
    closings: (...args) => memory.closings(...args),
    firstClosing: (accountId) => memory.firstClosing(accountId),
    creditsOfMonth: (...args) => memory.creditsOfMonth(...args),
    readCharges: (...args) => memory.readCharges(...args),
    keepCharges: (...args) => memory.keepCharges(...args),
    listRecords,
  };
  for (let time = 0; time < 2; time += 1)
    expect(await readStatement({ ...deps, records }, ID, '2026-10')).toMatchObject({ kind: 'statement' });
  const idAt = (ms: number) => renderRequestId({ atMs: ms, random: 0 }).slice(0, 10);
  expect(ranges, 'the second read uses the stored charges').toEqual([[idAt(Date.UTC(2026, 8, 28)), idAt(NOVEMBER)]]);
});

test('BILL-22 a read handles at most five thousand receipts, and the next one continues', async () => {
  const { memory, charge, clock, read } = await scene();
  await charge(NOVEMBER + 1);
  await clock.advance(31 * DAY);
  const [only] = (await memory.listRecords(ID, { limit: 1 })).records;
  if (!only) throw new Error('no record');
  // Each page has copies of the record, and claims that there are more, up to the last one.
  let pages = 0;
  const sizes: number[] = [];
  memory.listRecords = async (_accountId, { limit, beforeHoldId = '' }) => {
    pages += 1;
    sizes.push(limit);
    const holdId = `${beforeHoldId.slice(0, 10)}-${100 - pages}`;
    return { records: Array.from({ length: limit }, () => ({ ...only, holdId })), more: pages < 12 };
  };
  const parts = [await read('2026-11'), await read('2026-11'), await read('2026-11'), await read('2026-11')];
  expect(parts.map(({ charges, chargesComplete }) => [charges[0]?.requests, chargesComplete])).toEqual([
    [5_000, false],
    [10_000, false],
    [12_000, true],
    [12_000, true],
  ]);
  expect(parts.map(({ otherMonthPicos }) => otherMonthPicos)).toEqual([undefined, undefined, -35_997n, -35_997n]);
  expect(new Set(parts.map(({ chargesPicos }) => chargesPicos))).toEqual(new Set([3n]));
  expect([pages, new Set(sizes)]).toEqual([12, new Set([1_000])]);
});
