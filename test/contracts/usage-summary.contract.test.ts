import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { utcDay } from '../../lambdas/core/clock.ts';
import type { ChargeRecord } from '../../lambdas/core/ledger/ledger.ts';
import { listUsage } from '../../lambdas/core/ledger/usage.ts';
import { daysBetween, spentByKey, summarizeDays } from '../../lambdas/core/ledger/usage-summary.ts';
import { groupCells, type UsageGroup, type UsageSums } from '../../lambdas/core/ledger/usage-sums.ts';
import { renderRequestId } from '../../lambdas/core/request-id.ts';
import { timeOfRequest } from '../../lambdas/http/exchange.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { randomRuns } from '../support/random-runs.ts';
import { type LedgerSubject, ledgerSubjects } from './ledger-subjects.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 1);
const runs = randomRuns(import.meta.filename, { quick: 12, long: 400 });

const choice = (names: readonly string[]) => fc.constantFrom(undefined, ...names);
const stepOf = fc.oneof(
  fc.record({
    kind: fc.constant('begin' as const),
    laterMs: fc.nat(9 * HOUR),
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
    await store.apply(record, 40n, clock.now());
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
      await expectExact(traffic, utcDay(START), dayAt(0));
      await expectExact(traffic, utcDay(START), dayAt(1));
    };
    await fc.assert(fc.asyncProperty(fc.array(stepOf, { minLength: 4, maxLength: 30 }), fc.nat(9), play), runs);
  });

  test('BILL-23 a part is stored once, and complete sums never change', async () => {
    const part = (requests: number, fromId?: string): UsageSums => ({
      period: '2026-11-26',
      cells: [
        { requests, amountPicos: 2n ** 60n + 1n, inputTokens: 7, outputTokens: 0 },
        { model: 'alpha-1', isOther: true, requests, amountPicos: 0n, inputTokens: 0, outputTokens: 2 },
        {
          model: '',
          keyId: 'k',
          endUser: 'Zoë "\u{1f600}"',
          requests,
          amountPicos: 1n,
          inputTokens: 0,
          outputTokens: 0,
        },
      ],
      ...(fromId !== undefined && { fromId }),
    });
    const { records } = subject;
    const read = async () => records.usageSums('one', '2026-11-26', '2026-11-26');
    expect(await read()).toEqual([]);
    await records.keepUsageSums('one', part(1, 'b'));
    await records.keepUsageSums('one', part(2, 'c'));
    expect(await read()).toEqual([part(1, 'b')]);
    await records.keepUsageSums('one', part(3, 'c'), 'a');
    expect(await read()).toEqual([part(1, 'b')]);
    await records.keepUsageSums('one', part(4, 'c'), 'b');
    await records.keepUsageSums('one', part(5), 'c');
    await records.keepUsageSums('one', part(6), 'c');
    await records.keepUsageSums('one', part(7));
    expect(await read()).toEqual([part(5)]);
  });

  test('BILL-23 sums are read by range, without those of keys or of other accounts', async () => {
    const { records } = subject;
    const keep = (accountId: string, period: string) => records.keepUsageSums(accountId, { period, cells: [] });
    for (const period of ['2026-11-03', 'keys', '2026-11-01', '2026-11-02']) await keep('two', period);
    await keep('twofold', '2026-11-02');
    const periods = async (from: string, to: string) =>
      (await records.usageSums('two', from, to)).map(({ period }) => period);
    expect(await periods('2026-11-02', '2026-11-03')).toEqual(['2026-11-02', '2026-11-03']);
    expect(await periods('0001-01-01', '9999-12-31')).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(await periods('keys', 'keys')).toEqual(['keys']);
    expect(await periods('2026-11-04', '2026-11-05')).toEqual([]);
  });
});
