import { invalidRequest } from '../../../lambdas/core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../lambdas/core/json.ts';
import { refusalOf } from '../../../lambdas/core/ledger/allowance.ts';
import { holdInCap, parsePeriod } from '../../../lambdas/core/ledger/caps.ts';
import { beginMonth } from '../../../lambdas/core/ledger/change-credit.ts';
import { closeHold, isLate } from '../../../lambdas/core/ledger/close-hold.ts';
import type {
  ChargeRecord,
  HoldReply,
  HoldRequest,
  LedgerStore,
  RecordReply,
} from '../../../lambdas/core/ledger/ledger.ts';
import { type Account, HOLDS_MAX, holdOf, toOutcome } from '../../../lambdas/core/ledger/ledger.ts';
import { monthOf } from '../../../lambdas/core/ledger/month.ts';
import { formatUsd } from '../../../lambdas/core/money/usd.ts';
import { NEXT_CHANGE, noteLowBalance, readAccount } from './account-rows.ts';
import { deleteHold, insertHold, toCapsColumn } from './cap-columns.ts';
import { checkCredit, credit } from './credits.ts';
import { bigintOf, type Database, numberOf, type Row, textOf } from './database.ts';
import { replaceAccount } from './replace-account.ts';

/** Charges that an account can have in all: the largest int64. Overages can bring them above the credit. */
export const CHARGES_MAX_PICOS = 2n ** 63n - 1n;

/** One write of an account by this process. */
export interface AccountChange {
  /** Undefined for a new account. */
  readonly before: Account | undefined;
  readonly after: Account;
  /** The charge record of the hold that this write closed. */
  readonly record?: ChargeRecord;
}

export interface LedgerStoreOptions {
  /** Called after the write. */
  readonly onChange?: ((change: AccountChange) => void) | undefined;
  /** Throws StoreError while no hold may be placed, such as on a disk that is almost full. */
  readonly checkRoom?: (() => void) | undefined;
}

/**
 * The ledger in SQLite. Records and credits are durable when they resolve; holds and applied charges are not, and need
 * not be.
 */
export const createLedgerStore = (db: Database, options: LedgerStoreOptions = {}): LedgerStore => {
  const changed = (change: AccountChange): void => options.onChange?.(change);
  return {
    hold: async (request) => {
      options.checkRoom?.();
      // No provider is called for a charge that could not be recorded.
      await db.checkDisk();
      const { reply, before } = await db.write(() => hold(db, request));
      if (before && reply.kind === 'held') changed({ before, after: reply.account });
      return reply;
    },
    putRecord: (record) => db.writeDurably(() => putRecord(db, record)),
    apply: async (record, holdAmountPicos, nowMs) => {
      const change = await db.write(() => apply(db, record, holdAmountPicos, nowMs));
      if (change) changed({ ...change, record });
      return change?.after;
    },
    readAccount: (accountId) => db.read(() => readAccount(db, accountId)),
    readRecord: (accountId, holdId) => db.read(() => readRecord(db, accountId, holdId)),
    createAccount: (accountId, nowMs) =>
      db.writeDurably(() => (insertAccount(db, { accountId, creditPicos: 0n, nowMs }) ? 'created' : 'exists')),
    closeMonths: (accountId, nowMs) => db.writeDurably(() => closeMonths(db, accountId, nowMs)),
    credit: async (request) => {
      const { reply, change } = await db.writeDurably(() => credit(db, request));
      if (change) changed(change);
      return reply;
    },
    due: (nowMs, latestMs = Number.MAX_SAFE_INTEGER) =>
      db.peek(() =>
        db
          .sql('SELECT id FROM accounts WHERE sweep_at <= ? OR sweep_at > ?')
          .all(nowMs, latestMs)
          .map((row) => ({ accountId: textOf(row, 'id') })),
      ),
    reschedule: (accountId, sweepAtMs, dueMs) => db.write(() => reschedule(db, accountId, sweepAtMs, dueMs)),
    clearUncollected: (accountId) => db.writeDurably(() => clearUncollected(db, accountId)),
    sweepBy: (accountId, sweepAtMs) => db.write(() => sweepBy(db, accountId, sweepAtMs)),
  };
};

interface NewRow {
  readonly accountId: string;
  readonly chatId?: string | undefined;
  readonly creditPicos: bigint;
  readonly nowMs: number;
}

/** Returns whether the account is new. */
export const insertAccount = (db: Database, { accountId, chatId, creditPicos, nowMs }: NewRow): boolean => {
  checkCredit({ creditedPicos: 0n, availablePicos: 0n }, creditPicos);
  return (
    db
      .sql(
        `INSERT INTO accounts (id, status, available, credited, spent, version, change, chat_id, month)
         VALUES (?, 'active', ?, ?, 0, 0, ${NEXT_CHANGE}, ?, ?) ON CONFLICT DO NOTHING`,
      )
      .run(accountId, creditPicos, creditPicos, chatId ?? null, monthOf(nowMs)) === 1
  );
};

interface HoldChange {
  readonly reply: HoldReply;
  readonly before?: Account;
}

const hold = (db: Database, request: HoldRequest): HoldChange => {
  const { accountId, holdId, amountPicos, sweepAtMs } = request;
  const before = readAccount(db, accountId);
  if (!before) return { reply: { kind: 'no-account' } };
  const caps = holdInCap(before.caps, request.cap, amountPicos);
  if (!caps || !mayHold(before, request)) return { reply: { kind: 'refused', account: before } };
  db.sql(
    `UPDATE accounts SET available = available - ?, version = version + 1, change = ${NEXT_CHANGE},
       sweep_at = coalesce(sweep_at, ?), caps = ? WHERE id = ?`,
  ).run(amountPicos, sweepAtMs, toCapsColumn(caps), accountId);
  const placed = holdOf(request);
  insertHold(db, accountId, holdId, placed);
  const account: Account = {
    ...before,
    availablePicos: before.availablePicos - amountPicos,
    version: before.version + 1,
    holds: new Map(before.holds).set(holdId, placed),
    caps,
  };
  return { reply: { kind: 'held', account }, before };
};

const mayHold = (account: Account, { holdId, previousHoldId, amountPicos, allowance }: HoldRequest): boolean =>
  account.status === 'active' &&
  account.creditedPicos > account.spentPicos &&
  account.availablePicos >= amountPicos &&
  account.holds.size < HOLDS_MAX &&
  !account.holds.has(holdId) &&
  (previousHoldId === undefined || !account.holds.has(previousHoldId)) &&
  refusalOf(account, allowance) === undefined;

const putRecord = (db: Database, record: ChargeRecord): RecordReply => {
  const { accountId, holdId, requestId, outcome, amountPicos, at } = record;
  // Checks the charge before its record is written, because a record whose charge does not fit could not be applied.
  const account = db.sql('SELECT spent FROM accounts WHERE id = ?').get(accountId);
  checkCharge(account ? bigintOf(account, 'spent') : 0n, amountPicos);
  const written = db
    .sql(
      `INSERT INTO charges (account_id, hold_id, request_id, outcome, amount, at, details)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    )
    .run(accountId, holdId, requestId, outcome, amountPicos, at, toDetails(record));
  if (written === 1) return { kind: 'written' };
  const present = readRecord(db, accountId, holdId);
  if (!present) throw new Error('a record exists, but the store did not return it');
  return { kind: 'exists', record: present };
};

const toDetails = (record: ChargeRecord): string => {
  const { reason, model, usage, prices, overage, implausible, answer, endUser, ignored, costPicos } = record;
  const {
    uncollectedPicos,
    usesAllowance,
    silentDeadline,
    allowancePicos,
    keyId,
    endpoint,
    provider,
    firstByteMs,
    totalMs,
    cap,
    cutAtStop,
  } = record;
  return JSON.stringify({
    reason,
    model,
    usage,
    prices: prices && Object.fromEntries(Object.entries(prices).map(([name, picos]) => [name, picos.toString()])),
    overage: overage || undefined,
    implausible: implausible || undefined,
    cutAtStop: cutAtStop || undefined,
    answer,
    endUser,
    ignored,
    cost: costPicos?.toString(),
    uncollected: uncollectedPicos?.toString(),
    usesAllowance: usesAllowance || undefined,
    silentDeadline: silentDeadline || undefined,
    allowance: allowancePicos?.toString(),
    keyId,
    endpoint,
    provider,
    firstByteMs,
    totalMs,
    cap: cap && { key: cap.keyId, period: cap.period },
  });
};

export const toRecord = (row: Row): ChargeRecord => ({
  accountId: textOf(row, 'account_id'),
  holdId: textOf(row, 'hold_id'),
  requestId: textOf(row, 'request_id'),
  ...toOutcome(textOf(row, 'outcome')),
  amountPicos: bigintOf(row, 'amount'),
  at: numberOf(row, 'at'),
  ...readDetails(textOf(row, 'details')),
});

type Details = Omit<
  ChargeRecord,
  'accountId' | 'holdId' | 'requestId' | 'outcome' | 'newerOutcome' | 'amountPicos' | 'at'
>;

const readDetails = (json: string): Details => {
  const value = parseJson(json);
  if (!isJsonObject(value)) throw new Error('the details of a charge record are not a JSON object');
  const { usage, prices, overage, implausible, ignored, cost, cap } = value;
  const { uncollected, usesAllowance, silentDeadline, allowance, cutAtStop } = value;
  return {
    ...typed(value, ['reason', 'model', 'answer', 'endUser', 'keyId', 'endpoint', 'provider'], isText),
    ...typed(value, ['firstByteMs', 'totalMs'], isNumber),
    ...(isJsonObject(usage) && { usage: mapValues(usage, Number) }),
    ...(isJsonObject(prices) && { prices: mapValues(prices, (text) => BigInt(String(text))) }),
    ...(overage === true && { overage }),
    ...(implausible === true && { implausible }),
    ...(cutAtStop === true && { cutAtStop }),
    ...(Array.isArray(ignored) && { ignored: ignored.map(String) }),
    ...(typeof cost === 'string' && { costPicos: BigInt(cost) }),
    ...(typeof uncollected === 'string' && { uncollectedPicos: BigInt(uncollected) }),
    ...(usesAllowance === true && { usesAllowance }),
    ...(silentDeadline === true && { silentDeadline }),
    ...(typeof allowance === 'string' && { allowancePicos: BigInt(allowance) }),
    ...readCap(cap),
  };
};

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';

/** Returns the named values that have the type. */
const typed = <Name extends string, T>(
  values: JsonObject,
  names: readonly Name[],
  isType: (value: unknown) => value is T,
): { [name in Name]?: T } => {
  const found: { [name in Name]?: T } = {};
  for (const name of names) {
    const value = values[name];
    if (isType(value)) found[name] = value;
  }
  return found;
};

const readCap = (value: JsonValue | undefined): Pick<ChargeRecord, 'cap'> => {
  if (!isJsonObject(value)) return {};
  const { key, period } = value;
  return typeof key === 'string' && typeof period === 'string' && parsePeriod(period)
    ? { cap: { keyId: key, period } }
    : {};
};

const mapValues = <T>(values: Readonly<Record<string, unknown>>, convert: (value: unknown) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));

export const readRecord = (db: Database, accountId: string, holdId: string): ChargeRecord | undefined => {
  const row = db.sql('SELECT * FROM charges WHERE account_id = ? AND hold_id = ?').get(accountId, holdId);
  return row && toRecord(row);
};

const apply = (
  db: Database,
  record: ChargeRecord,
  holdAmountPicos: bigint,
  nowMs: number,
): { readonly before: Account; readonly after: Account } | undefined => {
  const { accountId, holdId, amountPicos } = record;
  const before = readAccount(db, accountId);
  const after = before && closeHold(before, record, holdAmountPicos, nowMs);
  const hold = before?.holds.get(holdId);
  if (!after || !hold) return undefined;
  checkCharge(before.spentPicos, amountPicos);
  deleteHold(db, accountId, holdId, hold);
  replaceAccount(db, before, after, nowMs);
  noteLowBalance(db, before, after);
  if (isLate(before, record)) db.sql('INSERT OR IGNORE INTO late_charges VALUES (?, ?)').run(accountId, holdId);
  return { before, after };
};

const closeMonths = (db: Database, accountId: string, nowMs: number): Account | undefined => {
  const before = readAccount(db, accountId);
  const after = before && beginMonth(before, nowMs);
  if (before && after && after !== before) replaceAccount(db, before, after, nowMs);
  return after;
};

/** Throws a GatewayError (400) if the sum of the account's charges would not fit in this store. */
const checkCharge = (spentPicos: bigint, amountPicos: bigint): void => {
  if (spentPicos + amountPicos <= CHARGES_MAX_PICOS) return;
  throw invalidRequest(
    'amount',
    `amount: an account can be charged ${formatUsd(CHARGES_MAX_PICOS)} USD in all. Use another account.`,
  );
};

const reschedule = (db: Database, accountId: string, sweepAtMs: number | undefined, dueMs: number): void => {
  const set = `UPDATE accounts SET version = version + 1, change = ${NEXT_CHANGE}, sweep_at = ? WHERE id = ?`;
  if (sweepAtMs !== undefined) {
    const isFree = 'sweep_at IS NULL OR sweep_at <= ? OR sweep_at >= ?';
    db.sql(`${set} AND (${isFree})`).run(sweepAtMs, accountId, dueMs, sweepAtMs);
  } else db.sql(`${set} AND NOT EXISTS (SELECT 1 FROM holds WHERE account_id = accounts.id)`).run(null, accountId);
};

const clearUncollected = (db: Database, accountId: string): boolean =>
  db
    .sql(
      `UPDATE accounts SET uncollected_day = NULL, uncollected = NULL, uncollected_silent = NULL,
         uncollected_silent_at = NULL, uncollected_free = NULL, uncollected_other_day = NULL, uncollected_other = NULL, probation_until = NULL,
         version = version + 1, change = ${NEXT_CHANGE} WHERE id = ?`,
    )
    .run(accountId) === 1;

const sweepBy = (db: Database, accountId: string, sweepAtMs: number): void => {
  db.sql(
    `UPDATE accounts SET version = version + 1, change = ${NEXT_CHANGE}, sweep_at = ?
     WHERE id = ? AND (sweep_at IS NULL OR sweep_at > ?)`,
  ).run(sweepAtMs, accountId, sweepAtMs);
};
