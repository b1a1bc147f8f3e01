import { beforeAll, describe, expect, test } from 'vitest';
import { auditAccount } from '../../lambdas/core/ledger/audit.ts';
import { type CreditOrder, creditAccount } from '../../lambdas/core/ledger/credit.ts';
import { type PlacedHold, placeHold } from '../../lambdas/core/ledger/hold.ts';
import { balanceOf, type ChargeRecord, type LedgerDependencies } from '../../lambdas/core/ledger/ledger.ts';
import { settleOutbox } from '../../lambdas/core/ledger/outbox.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { apply, commit } from '../../lambdas/core/ledger/resolve.ts';
import { readStatement, type StatementDependencies } from '../../lambdas/core/ledger/statement.ts';
import { listUsage } from '../../lambdas/core/ledger/usage.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { firstIdAt, renderRequestId } from '../../lambdas/core/request-id.ts';
import {
  type StatementObject,
  statementOf,
  toStatementCsv,
  toStatementObject,
} from '../../lambdas/protocols/account/statement-object.ts';
import { toUsageRow } from '../../lambdas/protocols/account/usage-row.ts';
import { ManualClock } from '../support/memory/manual-clock.ts';
import { MemoryOutbox } from '../support/memory/memory-outbox.ts';
import { type LedgerSubject, ledgerSubjects } from './ledger-subjects.ts';

const ID = 'account-1';
const HOUR = 3_600_000;
const OCTOBER = Date.UTC(2026, 9, 20);
const NOVEMBER = Date.UTC(2026, 10, 1);
const DECEMBER = Date.UTC(2026, 11, 1);
const models = ['alpha-1', 'beta-2', 'gamma-3'];

/** Exact sum of USD amounts. */
const sum = (amounts: readonly string[]): bigint => amounts.reduce((total, usd) => total + parseUsd(usd), 0n);

const withListing = (
  records: LedgerRecords,
  listRecords: LedgerRecords['listRecords'],
): StatementDependencies['records'] => ({
  closings: (...args) => records.closings(...args),
  firstClosing: (accountId) => records.firstClosing(accountId),
  creditsOfMonth: (...args) => records.creditsOfMonth(...args),
  readCharges: (...args) => records.readCharges(...args),
  keepCharges: (...args) => records.keepCharges(...args),
  listRecords,
});

/** An account with a clock, and everything that happens to it. */
const openTraffic = (subject: LedgerSubject) => {
  const clock = new ManualClock(OCTOBER);
  const { store, records } = subject;
  const outbox = new MemoryOutbox();
  const ledger: LedgerDependencies = { store, outbox, clock, random: () => 0, shortestLifetimeMs: 300_000 };
  let count = 0;
  const hold = async (): Promise<PlacedHold> => {
    count += 1;
    const requestId = renderRequestId({ atMs: clock.now(), random: count });
    const order = { accountId: ID, requestId, amountPicos: parseUsd('0.5'), expiresAtMs: clock.now() + 48 * HOUR };
    return placeHold(ledger, order);
  };
  const recordOf = ({ holdId, requestId }: PlacedHold, usd: string | undefined): ChargeRecord => ({
    accountId: ID,
    holdId,
    requestId,
    outcome: usd === undefined ? 'released' : 'settled',
    amountPicos: usd === undefined ? 0n : parseUsd(usd),
    at: clock.now(),
    model: models[count % models.length] ?? '',
    ...(usd === undefined && { reason: 'upstream_error' }),
  });
  /** Charges the hold, or releases it without an amount. */
  const end = async (placed: PlacedHold, usd: string | undefined): Promise<void> => {
    await apply(ledger, await commit(ledger, recordOf(placed, usd)), placed.amountPicos);
  };
  const change = async (order: Omit<CreditOrder, 'accountId' | 'reason'>): Promise<void> => {
    const reply = await creditAccount({ ...ledger, records }, { accountId: ID, reason: 'test', ...order });
    expect(reply.kind).toBe('credited');
  };
  return {
    clock,
    store,
    records,
    hold,
    end,
    change,
    /** Requests, one per hour, of which each fifth fails. */
    requests: async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        const placed = await hold();
        await clock.advance(HOUR / 2);
        await end(placed, time % 5 === 4 ? undefined : `0.0${time % 7}00000000${1 + (time % 9)}`);
        await clock.advance(HOUR / 2);
      }
    },
    /** A charge that the ledger does not accept before `settleLate`. */
    chargeLater: async (usd: string) => {
      const placed = await hold();
      await outbox.put({ record: recordOf(placed, usd), holdAmountPicos: placed.amountPicos });
    },
    settleLate: async () => expect(await settleOutbox(ledger)).toMatchObject({ settled: 1 }),
    /** Moves the clock to a time. */
    until: (atMs: number) => clock.advance(atMs - clock.now()),
    /** Reads a statement. `pageSize`: records in each of the five pages of the read. */
    statement: async (month: string, pageSize = 1_000): Promise<StatementObject> => {
      const listRecords: LedgerRecords['listRecords'] = (accountId, range) =>
        records.listRecords(accountId, { ...range, limit: pageSize });
      const deps = { store, records: withListing(records, listRecords), clock, random: () => 0 };
      return toStatementObject(statementOf(await readStatement(deps, ID, month), month));
    },
    audit: () => auditAccount({ store, records, clock }, ID),
    receipts: async (fromMs: number, untilMs: number) => {
      const range = { fromHoldId: firstIdAt(fromMs), beforeHoldId: firstIdAt(untilMs), limit: 1_000 };
      return (await listUsage(records, ID, range)).records.map(toUsageRow);
    },
    balance: async () => {
      const account = await store.readAccount(ID);
      return account && balanceOf(account);
    },
  };
};

/** Lines of a CSV statement, by the name of the line. */
const linesOf = (csv: string): ReadonlyMap<string, readonly string[]> => {
  const [, ...lines] = csv.trimEnd().split('\r\n');
  const cells = lines.map((line) => line.split(','));
  const byName = Map.groupBy(cells, ([, name = '']) => name);
  return new Map([...byName].map(([name, rows]) => [name, rows.map((row) => row.at(-2) || '0')]));
};

const expectExact = (statement: StatementObject): void => {
  const { opening_usd, credits_usd, returns_usd, charges_usd, closing_usd } = statement;
  expect(parseUsd(closing_usd)).toBe(sum([opening_usd, credits_usd]) - sum([returns_usd, charges_usd]));
  expect(sum(statement.credits.map(({ amount_usd }) => amount_usd))).toBe(parseUsd(credits_usd));
  expect(sum(statement.returns.map(({ amount_usd }) => amount_usd))).toBe(parseUsd(returns_usd));
  const charges = [...statement.charges.map(({ cost_usd }) => cost_usd), statement.settled_in_other_month_usd ?? '0'];
  expect(sum(charges)).toBe(parseUsd(charges_usd));
  const lines = linesOf(toStatementCsv(statement));
  const of = (name: string): bigint => sum(lines.get(name) ?? []);
  expect(of('closing')).toBe(of('opening') + of('credit') - of('return') - of('charge') - of('settled_in_other_month'));
  expect([of('opening'), of('closing'), of('held')]).toEqual(
    [opening_usd, closing_usd, statement.held_usd].map((usd) => parseUsd(usd)),
  );
};

describe.each(ledgerSubjects)('a month of traffic $name', ({ open }) => {
  let traffic: ReturnType<typeof openTraffic>;
  let october: StatementObject;
  let november: StatementObject;
  /** Statements of November in the order of their reads, up to the first complete one. */
  const parts: StatementObject[] = [];
  let atEndPicos: bigint | undefined;

  beforeAll(async () => {
    traffic = openTraffic(await open());
    await traffic.store.createAccount(ID, OCTOBER);
    await traffic.change({ ref: 'pay-1', type: 'credit', amountPicos: parseUsd('100') });
    await traffic.requests(20);
    await traffic.until(NOVEMBER - HOUR);
    const overOctober = await traffic.hold();
    await traffic.chargeLater('0.25');
    await traffic.until(NOVEMBER + HOUR);
    october = await traffic.statement('2026-10');
    await traffic.end(overOctober, '0.125');
    await traffic.settleLate();
    await traffic.requests(60);
    await traffic.change({ ref: 'pay-2', type: 'credit', amountPicos: parseUsd('50') });
    await traffic.change({ ref: 'back-1', type: 'refund', amountPicos: parseUsd('10.5'), of: 'pay-1' });
    await traffic.change({ ref: 'dispute-1', type: 'chargeback', amountPicos: parseUsd('50'), of: 'pay-2' });
    await traffic.requests(30);
    await traffic.change({ ref: 'won-1', type: 'chargeback_reversed', amountPicos: parseUsd('50'), of: 'dispute-1' });
    await traffic.change({ ref: 'fix-1', type: 'debit', amountPicos: parseUsd('0.000000000001') });
    await traffic.until(DECEMBER - HOUR);
    const overNovember = await traffic.hold();
    atEndPicos = await traffic.balance();
    await traffic.until(DECEMBER + HOUR);
    await traffic.end(overNovember, '0.0625');
    do {
      // Two readers continue from the same place.
      const [one, other] = await Promise.all([traffic.statement('2026-11', 5), traffic.statement('2026-11', 5)]);
      parts.push(one, other);
      november = other;
    } while (!november.charges_complete && parts.length < 20);
    await traffic.change({ ref: 'back-2', type: 'refund', amountPicos: parseUsd('1'), of: 'pay-2' });
    await traffic.requests(5);
  });

  test('BILL-22 opening plus credits minus returns minus charges is the closing balance', async () => {
    const december = await traffic.statement('2026-12');
    for (const statement of [october, november, december]) expectExact(statement);
    expect([october.opening_usd, november.opening_usd]).toEqual(['0', october.closing_usd]);
    expect(december.opening_usd).toBe(november.closing_usd);
    expect(parseUsd(november.closing_usd)).toBe(atEndPicos);
    expect(parseUsd(december.closing_usd)).toBe(await traffic.balance());
    expect([november.status, december.status]).toEqual(['closed', 'open']);
  });

  test('BILL-22 returns are listed by type, and a reversal subtracts', () => {
    expect(november.returns.map(({ type, ref, amount_usd }) => [type, ref, amount_usd])).toEqual([
      ['refund', 'back-1', '10.5'],
      ['chargeback', 'dispute-1', '50'],
      ['debit', 'fix-1', '0.000000000001'],
      ['chargeback_reversed', 'won-1', '-50'],
    ]);
    expect([november.credits_usd, november.returns_usd]).toEqual(['50', '10.500000000001']);
  });

  test('BILL-22 open holds at the end of a month are a line outside the sum', () => {
    expect([october.held_usd, november.held_usd]).toEqual(['1', '0.5']);
  });

  test('BILL-22 a late settlement belongs to the month in which it is applied', () => {
    // The outbox entry of October was applied in November, after a statement of October was read.
    expect([october.settled_in_other_month_usd, november.settled_in_other_month_usd]).toEqual(['0', '0.25']);
  });

  test('BILL-22 receipts of a month add up to its charges by model', async () => {
    const rows = await traffic.receipts(NOVEMBER, DECEMBER);
    const charged = rows.filter(({ outcome }) => outcome === 'charged');
    const receipts = sum(charged.map(({ cost_usd }) => cost_usd ?? '0'));
    // The request before October's end was charged in November, the one before November's end in December.
    expect(sum(november.charges.map(({ cost_usd }) => cost_usd))).toBe(
      receipts + parseUsd('0.125') - parseUsd('0.0625'),
    );
    expect(november.charges.map(({ model }) => model)).toEqual(models);
    expect(november.charges.reduce((total, { requests }) => total + requests, 0)).toBe(charged.length);
  });

  test('BILL-22 the statement of a closed month stays equal byte for byte', async () => {
    for (const known of [october, november]) {
      const again = await traffic.statement(known.month);
      expect(JSON.stringify(again)).toBe(JSON.stringify(known));
      expect(toStatementCsv(again)).toBe(toStatementCsv(known));
    }
  });

  test('BILL-22 a closed month with many receipts is summed over several reads', () => {
    const counts = parts.map(({ charges }) => charges.reduce((total, { requests }) => total + requests, 0));
    expect(counts).toEqual(counts.toSorted((one, other) => one - other));
    // 94 records are four reads of 25. Readers that continue from the same place add their records once.
    expect(new Set(counts).size).toBe(4);
    const open = parts.filter(({ charges_complete }) => !charges_complete);
    expect(open.length).toBeGreaterThan(2);
    for (const part of open) {
      expect(part).toEqual({
        ...november,
        charges: part.charges,
        charges_complete: false,
        settled_in_other_month_usd: null,
      });
      expect(linesOf(toStatementCsv(part)).get('settled_in_other_month')).toEqual(['0']);
    }
  });

  test('BILL-22 the present month with many receipts has the newest ones, and exact sums', async () => {
    const whole = await traffic.statement('2026-12');
    const part = await traffic.statement('2026-12', 1);
    expect([whole.charges_complete, part.charges_complete]).toEqual([true, false]);
    expect(part).toEqual({
      ...whole,
      charges: part.charges,
      charges_complete: false,
      settled_in_other_month_usd: null,
    });
    expect(part.charges.map(({ requests }) => requests).reduce((total, one) => total + one)).toBe(4);
    expect(await traffic.statement('2026-12', 1), 'the read stored nothing').toEqual(part);
  });

  test('BILL-22 months before the first and after the present one have no statement', async () => {
    await expect(traffic.statement('2026-09')).rejects.toThrow('Its first statement is of 2026-10.');
    await expect(traffic.statement('2027-01')).rejects.toThrow('2027-01 has not begun. Use 2026-12');
  });

  test('OPS-5, BILL-22 the audit has no finding after the traffic', async () => {
    expect(await traffic.audit()).toMatchObject({ stable: true, openHolds: 0, findings: [] });
  });
});
