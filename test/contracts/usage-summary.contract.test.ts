import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { utcDay } from '../../lambdas/core/clock.ts';
import type { Account, ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { listUsage } from '../../lambdas/core/ledger/usage.ts';
import { daysBetween } from '../../lambdas/core/ledger/usage-periods.ts';
import { spentByKey, summarizeDays } from '../../lambdas/core/ledger/usage-summary.ts';
import { groupCells, type UsageGroup, type UsageSums } from '../../lambdas/core/ledger/usage-sums.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { timeOfRequest } from '../../lambdas/http/exchange.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { randomRuns } from '../support/random-runs.ts';
import { expectBalanced, type LedgerSubject, ledgerSubjects } from './ledger-subjects.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 1);
/** Before the time that all steps back of the clock can reach. */
const EARLIEST = '2026-10-20';
const runs = randomRuns(import.meta.filename, { quick: 12, long: 150 });

const choice = (names: readonly string[]) => fc.constantFrom(undefined, ...names);
const stepOf = fc.oneof(
  fc.record({
    kind: fc.constant('begin' as const),
    // Sometimes a clock was set back.
    laterMs: fc.integer({ min: -4 * HOUR, max: 9 * HOUR }),
    model: choice(['alpha-1', 'beta-2']),
    keyId: fc.constantFrom('0123456789abcdef', 'fedcba9876543210'),
    endUser: choice(['Zoë', 'other']),
    isGivenUp: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('end' as const),
    index: fc.nat(3),
    amountPicos: fc.option(fc.bigInt(0n, 40n), { nil: undefined }),
    tokens: fc.nat(9),
  }),
  fc.record({ kind: fc.constant('read' as const), back: fc.nat(3), length: fc.nat(3) }),
);
type Step = typeof stepOf extends fc.Arbitrary<infer One> ? One : never;

let accounts = 0;

/** An account whose requests begin and end at any time, while its summaries are read. */
const openTraffic = async ({ store, records }: LedgerSubject, unkeyed: number) => {
  accounts += 1;
  const accountId = `summary-${accounts}`;
  const clock = new ManualClock(START);
  await store.createAccount(accountId, START);
  await store.credit({ accountId, ref: 'first', amountPicos: 10n ** 9n, reason: 'test', at: START });
  const deps = { store, records, clock };
  const open: ChargeRecord[] = [];
  let count = 0;
  const begin = async ({ laterMs, model, keyId, endUser, isGivenUp }: Extract<Step, { kind: 'begin' }>) => {
    await clock.advance(laterMs);
    count += 1;
    const requestId = renderRequestId({ atMs: clock.now(), random: count });
    // Requests of an earlier release come first, and have no key.
    const names = { ...(model && { model }), ...(count > unkeyed && { keyId }), ...(endUser && { endUser }) };
    const record = { accountId, requestId, outcome: 'released', amountPicos: 0n, at: clock.now(), ...names } as const;
    if (isGivenUp) await store.putRecord({ ...record, holdId: `${requestId}.0`, reason: 'given_up' });
    const holdId = `${requestId}.1`;
    const times = { expiresAtMs: clock.now() + HOUR, sweepAtMs: clock.now(), previousHoldId: undefined };
    const reply = await store.hold({ accountId, holdId, amountPicos: 40n, ...times });
    if (reply.kind === 'held') open.push({ ...record, holdId });
  };
  const end = async (index: number, amountPicos: bigint | undefined, tokens: number) => {
    const [begun] = open.splice(index % Math.max(1, open.length), 1);
    if (!begun) return;
    const charged = {
      outcome: 'settled',
      amountPicos: amountPicos ?? 0n,
      usage: { input: tokens, cacheRead: 1 },
    } as const;
    const record = { ...begun, at: clock.now(), ...(amountPicos === undefined ? { reason: 'expired' } : charged) };
    await store.putRecord(record);
    expect((await store.apply(record, 40n, clock.now()))?.holds.has(record.holdId)).toBe(false);
  };
  const receipts = async () =>
    (await listUsage(records, accountId, { limit: 1_000 })).records.filter(({ outcome }) => outcome === 'settled');
  return { accountId, deps, clock, open, begin, end, receipts };
};

type Traffic = Awaited<ReturnType<typeof openTraffic>>;

const groups: ReadonlySet<UsageGroup> = new Set(['day', 'model', 'key', 'end_user']);

/** Sums of receipts as the rows of a summary, computed without its code. */
const expected = (receipts: readonly ChargeRecord[]) => {
  const sums: Record<string, readonly [requests: number, picos: bigint, input: number]> = {};
  for (const { requestId, model, keyId, endUser, amountPicos, usage } of receipts) {
    const name = JSON.stringify([utcDay(timeOfRequest(requestId)), model, keyId, endUser]);
    const [requests, picos, input] = sums[name] ?? [0, 0n, 0];
    sums[name] = [requests + 1, picos + amountPicos, input + (usage?.input ?? 0) + (usage?.cacheRead ?? 0)];
  }
  return sums;
};

const expectExact = async ({ accountId, deps, receipts }: Traffic, fromDay: string, toDay: string) => {
  const range = { fromDay, toDay };
  const [summary] = await Promise.all([summarizeDays(deps, accountId, range), summarizeDays(deps, accountId, range)]);
  const rows = groupCells(summary?.days ?? new Map(), groups).map(
    ({ day, model, keyId, endUser, requests, amountPicos, inputTokens }) =>
      [JSON.stringify([day, model, keyId, endUser]), [requests, amountPicos, inputTokens]] as const,
  );
  const days = new Set(daysBetween(fromDay, toDay));
  const all = await receipts();
  const within = all.filter(({ requestId }) => days.has(utcDay(timeOfRequest(requestId))));
  expect(Object.fromEntries(rows)).toEqual(expected(within));
  expect(summary?.incompleteDays).toEqual([]);
  const spent = await spentByKey(deps, accountId);
  const byKey = new Map<string, bigint>();
  for (const { keyId, amountPicos } of all) if (keyId) byKey.set(keyId, (byKey.get(keyId) ?? 0n) + amountPicos);
  expect([spent.isComplete, new Map([...spent.picos].sort())]).toEqual([true, new Map([...byKey].sort())]);
};

describe.each(ledgerSubjects)('the usage sums of the ledger $name', ({ open }) => {
  let subject: LedgerSubject;
  beforeAll(async () => {
    subject = await open();
  });

  test('BILL-23 sums equal the receipts whatever the order of requests, charges and reads', async () => {
    const play = async (steps: readonly Step[], unkeyed: number): Promise<void> => {
      const traffic = await openTraffic(subject, unkeyed);
      const dayAt = (offset: number): string => utcDay(traffic.clock.now() + offset * 24 * HOUR);
      for (const step of steps) {
        if (step.kind === 'begin') await traffic.begin(step);
        else if (step.kind === 'end') await traffic.end(step.index, step.amountPicos, step.tokens);
        else await expectExact(traffic, dayAt(-step.back - step.length), dayAt(-step.back));
      }
      while (traffic.open.length > 0) await traffic.end(0, 3n, 1);
      await traffic.clock.advance(HOUR);
      await expectExact(traffic, EARLIEST, dayAt(0));
      await expectExact(traffic, EARLIEST, dayAt(1));
    };
    await fc.assert(fc.asyncProperty(fc.array(stepOf, { minLength: 4, maxLength: 30 }), fc.nat(9), play), runs);
  });

  const sums = (period: string, revision: number, requests = revision): UsageSums => ({
    period,
    revision,
    cells: [
      { requests, amountPicos: 2n ** 60n + 1n, inputTokens: 7, outputTokens: 0 },
      { model: 'alpha-1', isOther: true, requests, amountPicos: 0n, inputTokens: 0, outputTokens: 2 },
      { model: '', keyId: 'k', endUser: 'Zoë "\u{1f600}"', requests, amountPicos: 1n, inputTokens: 0, outputTokens: 0 },
    ],
    ...(revision < 3 && { fromId: `place-${revision}` }),
  });

  test('BILL-23 sums are stored on top of the revision before, and others are not', async () => {
    const { records } = subject;
    const keep = (revision: number, requests?: number) =>
      records.keepUsageSums('one', [sums('2026-11-26', revision, requests)]);
    const read = async () => records.usageSums('one', '2026-11-26', '2026-11-26');
    expect(await read()).toEqual([]);
    expect(await keep(2)).toBe(false);
    expect(await keep(1)).toBe(true);
    expect(await keep(1, 9)).toBe(false);
    expect(await keep(3)).toBe(false);
    expect(await read()).toEqual([sums('2026-11-26', 1)]);
    expect([await keep(2), await keep(3), await keep(3, 9)]).toEqual([true, true, false]);
    expect(await read()).toEqual([sums('2026-11-26', 3)]);
    // Late charges are added to complete sums, too.
    expect(await keep(4)).toBe(true);
  });

  test('BILL-23 sums are read by range, without those of keys or of other accounts', async () => {
    const { records } = subject;
    const keep = (accountId: string, period: string) => records.keepUsageSums(accountId, [sums(period, 1)]);
    for (const period of ['2026-11-03', 'keys', '2026-11-01', '2026-11-02']) await keep('two', period);
    await keep('twofold', '2026-11-02');
    const periods = async (from: string, to: string) =>
      (await records.usageSums('two', from, to)).map(({ period }) => period);
    expect(await periods('2026-11-02', '2026-11-03')).toEqual(['2026-11-02', '2026-11-03']);
    expect(await periods('0001-01-01', '9999-12-31')).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(await periods('keys', 'keys')).toEqual(['keys']);
    expect(await periods('2026-11-04', '2026-11-05')).toEqual([]);
  });

  /** An account with open holds whose requests began at these times. */
  const holding = async (atMs: readonly number[]) => {
    accounts += 1;
    const accountId = `summary-${accounts}`;
    const { store } = subject;
    await store.createAccount(accountId, START);
    await store.credit({ accountId, ref: 'first', amountPicos: 10n ** 9n, reason: 'test', at: START });
    const records: ChargeRecord[] = [];
    for (const [index, at] of atMs.entries()) {
      const requestId = renderRequestId({ atMs: at, random: index });
      const holdId = `${requestId}.0`;
      const times = { expiresAtMs: at + HOUR, sweepAtMs: at, previousHoldId: undefined };
      await store.hold({ accountId, holdId, amountPicos: 40n, ...times });
      const record = {
        accountId,
        requestId,
        holdId,
        outcome: 'settled',
        amountPicos: 7n,
        at,
        model: 'alpha-1',
      } as const;
      records.push({ ...record, usage: { input: 3 } });
    }
    const close = async (record: ChargeRecord, nowMs = START) => {
      await store.putRecord(record);
      return store.apply(record, 40n, nowMs);
    };
    return { accountId, records, close };
  };

  test('BILL-23 the id up to which sums are stored moves up, and never back', async () => {
    const { records, store } = subject;
    const { accountId } = await holding([START]);
    expect((await store.readAccount(accountId))?.countedToId).toBeUndefined();
    const before = (await store.readAccount(accountId))?.version ?? 0;
    expect(await records.countTo(accountId, 'b')).toMatchObject({ countedToId: 'b', version: before + 1 });
    expect(await records.countTo(accountId, 'a')).toMatchObject({ countedToId: 'b', version: before + 1 });
    expect(await records.countTo(accountId, 'b')).toMatchObject({ countedToId: 'b', version: before + 1 });
    expect(await records.countTo(accountId, 'c')).toMatchObject({ countedToId: 'c', version: before + 2 });
    expect((await records.countTo(accountId, 'd'))?.holds.size).toBe(1);
    expect(await records.countTo('missing', 'b')).toBeUndefined();
  });

  test('BILL-23 a charge is late only if its hold is below the id when it is closed', async () => {
    const { records, store } = subject;
    const { accountId, records: held, close } = await holding([START, START + 1, START + 2, START + 3]);
    const [early, first, released, ahead] = held as [ChargeRecord, ChargeRecord, ChargeRecord, ChargeRecord];
    await close(early);
    await records.countTo(accountId, ahead.holdId);
    const before = await store.readAccount(accountId);
    const after = await close(first);
    expect(after).toMatchObject({ version: (before?.version ?? 0) + 1, spentPicos: 14n });
    expect(after).toEqual(await store.readAccount(accountId));
    await close({ ...released, outcome: 'released', amountPicos: 0n });
    await close(ahead);
    expect(await store.apply(first, 40n, START)).toBeUndefined();
    expect(await records.lateCharges(accountId, 10)).toEqual([first]);
    expectBalanced((await store.readAccount(accountId)) as Account);
  });

  test('BILL-23 a late charge of a new month is stored with the closing of the month before', async () => {
    const { records, store } = subject;
    const { accountId, records: held, close } = await holding([START, START + 1]);
    const [one, other] = held as [ChargeRecord, ChargeRecord];
    await records.countTo(accountId, '~');
    const later = START + 40 * 24 * HOUR;
    expect(await close(one, later)).toMatchObject({ month: '2026-12', spentPicos: 7n });
    expect(await close(other, later)).toMatchObject({ month: '2026-12', spentPicos: 14n });
    expect(await records.lateCharges(accountId, 10)).toEqual([one, other]);
    expect(await records.closings(accountId, '2026-11')).toHaveLength(1);
    expect((await store.readAccount(accountId))?.holds.size).toBe(0);
  });

  test('BILL-23 late charges are removed with the write of the sums that include them', async () => {
    const { records } = subject;
    const { accountId, records: held, close } = await holding([START, START + 1, START + 2]);
    await records.countTo(accountId, '~');
    for (const record of held) await close(record);
    const [first, second, third] = held.map(({ holdId }) => holdId) as [string, string, string];
    const waiting = async () => (await records.lateCharges(accountId, 10)).map(({ holdId }) => holdId);
    expect((await records.lateCharges(accountId, 2)).map(({ holdId }) => holdId)).toEqual([first, second]);
    const both = (revision: number) => [sums('2026-11-01', revision), sums('keys', revision)];
    const read = async () => (await records.usageSums(accountId, '', '~')).map(({ revision }) => revision);
    expect(await records.keepUsageSums(accountId, both(1), [first])).toBe(true);
    expect(await waiting()).toEqual([second, third]);
    expect(await records.keepUsageSums(accountId, both(1), [second])).toBe(false);
    expect(await records.keepUsageSums(accountId, both(2), [first, second])).toBe(false);
    expect(await records.keepUsageSums(accountId, [sums('2026-11-01', 2), sums('keys', 1)], [second])).toBe(false);
    expect([await waiting(), await read()]).toEqual([
      [second, third],
      [1, 1],
    ]);
    expect(await records.keepUsageSums(accountId, both(2), [second, third])).toBe(true);
    expect([await waiting(), await read()]).toEqual([[], [2, 2]]);
  });
});
