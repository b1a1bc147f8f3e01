import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import { spentByKey, summarizeDays } from '../../../../lambdas/core/ledger/usage-summary.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { ID } from './ledger-scene.ts';

export const NOVEMBER = Date.UTC(2026, 10, 1);
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

const HELD = 5n;

/** One account with a balance, whose requests begin and end at any time, and whose summaries count what they read. */
export const usageScene = async (nowMs: number) => {
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
  /** Writes the record of a request whose hold was closed long ago. */
  const charge = async (atMs: number, changes: Partial<ChargeRecord> = {}) => memory.putRecord(recordAt(atMs, changes));
  const hold = async (record: ChargeRecord): Promise<ChargeRecord> => {
    const times = { expiresAtMs: record.at + DAY, sweepAtMs: record.at, previousHoldId: undefined };
    await memory.hold({ accountId: ID, holdId: record.holdId, amountPicos: HELD, ...times });
    return record;
  };
  const holdAt = (atMs: number, changes: Partial<ChargeRecord> = {}) => hold(recordAt(atMs, changes));
  const close = async (record: ChargeRecord): Promise<void> => {
    await memory.putRecord(record);
    await memory.apply(record, HELD, clock.now());
  };
  /** Places a hold and charges it. */
  const pay = async (atMs: number, changes: Partial<ChargeRecord> = {}) => close(await holdAt(atMs, changes));
  const reads: number[] = [];
  const listRecords = memory.listRecords.bind(memory);
  memory.listRecords = async (accountId, range) => {
    const page = await listRecords(accountId, range);
    // The search for the newest record to store reads one.
    if (range.limit > 1) reads.push(page.records.length);
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
  const spent = async () => {
    const { picos, isComplete } = await spentByKey(deps, ID);
    return { picos: Object.fromEntries(picos), isComplete, read: readCount() };
  };
  const kept = async () =>
    (await memory.usageSums(ID, '', '~')).map(({ period, fromId }) => [period, fromId === undefined] as const);
  return { memory, clock, deps, recordAt, charge, holdAt, close, pay, summarize, spent, kept, readCount };
};
