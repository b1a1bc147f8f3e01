import { dailyLimitOf } from '../../core/ledger/allowance.ts';
import { type HoldCap, keptOf } from '../../core/ledger/caps.ts';
import { beginMonth } from '../../core/ledger/change-credit.ts';
import { closeHold, isLate } from '../../core/ledger/close-hold.ts';
import {
  type Account,
  type ChargeRecord,
  type Due,
  HOLDS_MAX,
  type HoldReply,
  type HoldRequest,
  holdOf,
  type LedgerStore,
  type RecordReply,
} from '../../core/ledger/ledger.ts';
import { monthOf } from '../../core/ledger/month.ts';
import { otherRaiseOf, type Raise, toRaise } from './allowance-updates.ts';
import { type CapUpdate, toCapHold, toCapLeft, toCapReturn, toKeptReturn } from './cap-items.ts';
import { credit } from './credit-items.ts';
import type { DynamoDB, UpdateRequest, WriteResult } from './dynamodb.ts';
import { allEntryNames, entryNames, type HoldFormat, packedFormOf, toHoldEntry } from './hold-entries.ts';
import type { Item } from './item.ts';
import {
  accountIdOf,
  accountKey,
  chargeKey,
  lateKey,
  newAccountItem,
  shards,
  toAccount,
  toChargeItem,
  toChargeRecord,
} from './ledger-items.ts';
import { ALLOWANCE_ATTRIBUTES, replaceAccount } from './replace-account.ts';

/**
 * Creates the ledger on one table. Each method is one conditional write or one consistent read. `once` sends a call
 * once, because a hold must never be sent twice; `repeating` can repeat a call. New holds are stored in `holdFormat`.
 */
export const createLedgerStore = (
  db: { readonly once: DynamoDB; readonly repeating: DynamoDB },
  table: string,
  holdFormat: HoldFormat = 'packed',
): LedgerStore => ({
  hold: (request) => hold(db.once, table, request, holdFormat),
  putRecord: (record) => putRecord(db.repeating, table, record),
  apply: (record, holdAmountPicos, nowMs) => apply(db.repeating, table, { record, holdAmountPicos, nowMs }),
  readAccount: async (accountId) => {
    const item = await db.repeating.get(table, accountKey(accountId));
    return item && toAccount(item);
  },
  readRecord: async (accountId, holdId) => {
    const item = await db.repeating.get(table, chargeKey(accountId, holdId));
    return item && toChargeRecord(item);
  },
  createAccount: async (accountId, nowMs) => {
    const reply = await db.repeating.put({
      table,
      item: newAccountItem(accountId, nowMs),
      condition: 'attribute_not_exists(pk)',
    });
    return 'written' in reply ? 'created' : 'exists';
  },
  closeMonths: (accountId, nowMs) => closeMonths(db.repeating, table, accountId, nowMs),
  credit: (request) => credit(db.repeating, table, request),
  due: (nowMs, latestMs) => due(db.repeating, table, nowMs, latestMs),
  reschedule: (accountId, sweepAtMs, dueMs) => reschedule(db.repeating, table, accountId, { sweepAtMs, dueMs }),
  clearUncollected: async (accountId) => {
    const reply = await db.repeating.update({
      table,
      key: accountKey(accountId),
      update: `SET version = version + :one REMOVE ${ALLOWANCE_ATTRIBUTES.join(', ')}`,
      condition: 'attribute_exists(pk)',
      values: { ':one': 1 },
    });
    return 'written' in reply;
  },
  sweepBy: async (accountId, sweepAtMs) => {
    await db.repeating.update({
      table,
      key: accountKey(accountId),
      update: 'SET version = version + :one, sweepAt = :at',
      condition: 'attribute_exists(pk) AND (attribute_not_exists(sweepAt) OR sweepAt > :at)',
      values: { ':one': 1, ':at': sweepAtMs },
    });
  },
});

/** Today's amount as `inDay` returns it: its own, or that of a later day before which today was not counted. */
const ALLOWANCE_IS_LEFT =
  ' AND (attribute_not_exists(uncollectedDay) OR uncollectedDay < :today OR uncollected < :dailyLimit OR uncollectedOtherDay = :today)' +
  ' AND (attribute_not_exists(uncollectedOtherDay) OR uncollectedOtherDay <> :today OR uncollectedOther < :dailyLimit)';

const IS_FREE_OF_PROBATION =
  ' AND (attribute_not_exists(probationUntil) OR spent >= probationUntil OR size(holds) = :none)';

const hold = async (db: DynamoDB, table: string, request: HoldRequest, holdFormat: HoldFormat): Promise<HoldReply> => {
  const { key, value } = toHoldEntry(request.holdId, holdOf(request), holdFormat);
  const previous = namesOfPrevious(request);
  const { allowance } = request;
  const cap = toCapHold(request.cap, request.amountPicos);
  const notBefore = Object.keys(previous)
    .map((name) => ` AND attribute_not_exists(holds.${name})`)
    .join('');
  const reply = await db.hot.update({
    table,
    key: accountKey(request.accountId),
    update:
      'SET available = available - :amount, holds.#id = :hold, version = version + :one, ' +
      `sweepAt = if_not_exists(sweepAt, :sweepAt)${cap.set}${toRemove(cap.removed)}`,
    condition:
      '#status = :active AND credited > spent AND available >= :amount AND attribute_not_exists(holds.#id) ' +
      `AND size(holds) < :holdsMax${notBefore}${allowance ? ALLOWANCE_IS_LEFT : ''}` +
      `${allowance?.isLarge ? IS_FREE_OF_PROBATION : ''}${cap.condition}`,
    names: {
      '#id': key,
      '#status': 'status',
      ...previous,
      ...cap.names,
    },
    values: {
      ':amount': request.amountPicos,
      ':hold': value,
      ':one': 1,
      ':sweepAt': request.sweepAtMs,
      ':active': 'active',
      ':holdsMax': HOLDS_MAX,
      ...(allowance && { ':today': allowance.day, ':dailyLimit': dailyLimitOf(allowance) }),
      ...(allowance?.isLarge && { ':none': 0 }),
      ...cap.values,
    },
    returns: 'ALL_NEW',
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return { kind: 'held', account: toAccount(reply.written) };
  return reply.conditionFailed
    ? { kind: 'refused', account: toAccount(reply.conditionFailed) }
    : { kind: 'no-account' };
};

const toRemove = (paths: readonly string[] = []): string => (paths.length === 0 ? '' : ` REMOVE ${paths.join(', ')}`);

/** Names of the previous try, which has a cap only if this one has a condition on it. */
const namesOfPrevious = ({ previousHoldId, cap }: HoldRequest): Record<string, string> => {
  if (previousHoldId === undefined) return {};
  return cap ? allEntryNames(previousHoldId, 'previous') : entryNames(previousHoldId, 'previous', false);
};

const putRecord = async (db: DynamoDB, table: string, record: ChargeRecord): Promise<RecordReply> => {
  const reply = await db.hot.put({
    table,
    item: toChargeItem(record),
    condition: 'attribute_not_exists(pk)',
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return { kind: 'written' };
  if (!reply.conditionFailed) throw new Error('a record exists, but the store did not show it');
  return { kind: 'exists', record: toChargeRecord(reply.conditionFailed) };
};

const IS_MAP = 'holds.#id.amount = :amount';
/** A longer hold has a cap that the record lacks, or is of a newer release. */
const IS_PACKED = 'begins_with(holds.#idPacked, :start) AND size(holds.#idPacked) = :bytes';

/** Whether the charge is not late, by `isLate`. */
const IS_AHEAD = '(attribute_not_exists(countedToId) OR countedToId <= :holdId)';

interface Closing {
  readonly record: ChargeRecord;
  readonly holdAmountPicos: bigint;
  readonly nowMs: number;
  readonly raise?: Raise;
}

/**
 * One conditional update in general, and a second one if the cap of the hold is in another period, if the charge is
 * late, or if the uncollected amount is counted in another way. If the condition fails although the hold is open, the
 * write that `closeHold` computes from the present item follows. That is so for the first charge of a month, the first
 * uncollected amount of a day, the one that starts a probation, and a record without the cap of its hold.
 */
const apply = async (db: DynamoDB, table: string, closing: Closing): Promise<Account | undefined> => {
  const { record, holdAmountPicos, nowMs } = closing;
  let reply = await db.hot.update(toClose(table, closing, toCapReturn(record.cap)));
  // All holds of a period can end at the same time after it, and writes by the version would exclude each other.
  const ofOther = record.cap && capOfOtherPeriod(reply, record, record.cap);
  const raise = otherRaiseOf(reply, record, nowMs);
  if (ofOther) reply = await db.hot.update(toClose(table, closing, ofOther));
  else if (raise) reply = await db.hot.update(toClose(table, { ...closing, raise }, toCapReturn(record.cap)));
  if ('written' in reply) return toAccount(reply.written);
  if (!reply.conditionFailed) return undefined;
  const before = toAccount(reply.conditionFailed);
  const after = closeHold(before, record, holdAmountPicos, nowMs);
  if (!after) return undefined;
  const late = isLate(before, record) ? [{ put: { table, item: toLateItem(record) } }] : [];
  // The same update without the condition on `countedToId`: writes by the version would exclude each other here, too.
  const cap = ofOther ?? toCapReturn(record.cap);
  const isClosed = late.length > 0 && !(await db.transact([{ update: toLateClose(table, closing, cap) }, ...late]));
  if (!isClosed) await replaceAccount(db, table, { before, after, nowMs }, late);
  return after;
};

/** Returns the change of the cap if the refused write found the hold open, and its cap in another period or removed. */
const capOfOtherPeriod = (reply: WriteResult, { holdId }: ChargeRecord, holdCap: HoldCap): CapUpdate | undefined => {
  if ('written' in reply || !reply.conditionFailed) return undefined;
  const { caps, holds } = toAccount(reply.conditionFailed);
  const cap = caps.get(holdCap.keyId);
  if (!holds.get(holdId)?.cap || cap?.period === holdCap.period) return undefined;
  return cap && keptOf(cap, holdCap.period) !== undefined ? toKeptReturn(holdCap) : toCapLeft(holdCap);
};

const toLateItem = (record: ChargeRecord): Item => ({
  ...toChargeItem(record),
  ...lateKey(record.accountId, record.holdId),
});

/** Only a charge can be late, so a release needs no condition. */
const toClose = (table: string, closing: Closing, cap: CapUpdate): UpdateRequest => {
  const { condition, values, ...update } = toLateClose(table, closing, cap);
  const { outcome, holdId } = closing.record;
  const returned = { returns: 'ALL_NEW', onFailure: 'ALL_OLD' } as const;
  if (outcome === 'released') return { ...update, condition, values, ...returned };
  return {
    ...update,
    condition: `${IS_AHEAD} AND ${condition}`,
    values: { ...values, ':holdId': holdId },
    ...returned,
  };
};

const toLateClose = (table: string, closing: Closing, cap: CapUpdate) => {
  const { record, holdAmountPicos, nowMs } = closing;
  const names = entryNames(record.holdId, 'id', record.cap !== undefined);
  const packed = packedFormOf(record.holdId, holdAmountPicos, record.cap);
  const isOpen = packed ? `(${IS_MAP} OR (${IS_PACKED}))` : IS_MAP;
  const use = toRaise(closing);
  return {
    table,
    key: accountKey(record.accountId),
    update:
      'SET available = available + :back, spent = spent + :charge, version = version + :one' +
      `${use.set}${cap.set} REMOVE ${Object.keys(names)
        .map((name) => `holds.${name}`)
        .join(', ')}`,
    condition: `#month >= :month AND ${isOpen}${use.condition}${cap.condition}`,
    names: { ...names, ...cap.names, '#month': 'month' },
    values: {
      ':back': holdAmountPicos - record.amountPicos,
      ':charge': record.amountPicos,
      ':one': 1,
      ':amount': holdAmountPicos,
      ':month': monthOf(nowMs),
      ...(packed && { ':start': packed.start, ':bytes': packed.bytes }),
      ...cap.values,
      ...use.values,
    },
  };
};

/** Also closes months in which the account is not used any more. */
const closeMonths = async (
  db: DynamoDB,
  table: string,
  accountId: string,
  nowMs: number,
): Promise<Account | undefined> => {
  const item = await db.get(table, accountKey(accountId));
  const before = item && toAccount(item);
  const after = before && beginMonth(before, nowMs);
  if (before && after !== before) await replaceAccount(db, table, { before, after: after ?? before, nowMs });
  return after;
};

/** A sparse index contains the accounts with open holds, in the order of their next sweep. */
const due = async (db: DynamoDB, table: string, nowMs: number, latestMs?: number): Promise<Due[]> => {
  const parts = shards.flatMap((shard) => [
    dueOf(db, table, shard, { is: '<=', ms: nowMs }),
    ...(latestMs === undefined ? [] : [dueOf(db, table, shard, { is: '>', ms: latestMs })]),
  ]);
  return (await Promise.all(parts)).flat();
};

interface SweepTime {
  readonly is: '<=' | '>';
  readonly ms: number;
}

const dueOf = async (db: DynamoDB, table: string, shard: string, { is, ms }: SweepTime): Promise<Due[]> => {
  const items = await db.query({
    table,
    index: 'sweep',
    keyCondition: `#shard = :shard AND sweepAt ${is} :time`,
    names: { '#shard': 'shard' },
    values: { ':shard': shard, ':time': ms },
  });
  return items.map((item) => ({ accountId: accountIdOf(item) }));
};

/**
 * Sets the account's next sweep, but never postpones one that another writer has set since the caller's list. Without a
 * time, removes the account from the sweep list, but only if it has no open hold: one may have been placed since the
 * caller's read.
 */
const reschedule = async (
  db: DynamoDB,
  table: string,
  accountId: string,
  { sweepAtMs, dueMs }: { readonly sweepAtMs: number | undefined; readonly dueMs: number },
): Promise<void> => {
  const change: Pick<UpdateRequest, 'update' | 'condition' | 'values'> =
    sweepAtMs === undefined
      ? {
          update: 'SET version = version + :one REMOVE sweepAt',
          condition: 'size(holds) = :none',
          values: { ':one': 1, ':none': 0 },
        }
      : {
          update: 'SET version = version + :one, sweepAt = :at',
          condition:
            'attribute_exists(pk) AND ' + '(attribute_not_exists(sweepAt) OR sweepAt <= :due OR sweepAt >= :at)',
          values: { ':one': 1, ':at': sweepAtMs, ':due': dueMs },
        };
  await db.update({ table, key: accountKey(accountId), ...change });
};
