import {
  type Account,
  type ChargeRecord,
  type Due,
  HOLDS_MAX,
  type HoldReply,
  type HoldRequest,
  type LedgerStore,
  type RecordReply,
} from '../../core/ledger/ledger.ts';
import { credit } from './credit-items.ts';
import type { DynamoDB, UpdateRequest } from './dynamodb.ts';
import { type HoldFormat, PACKED_BYTES, packedKeyOf, packedStartOf, toHoldEntry } from './hold-entries.ts';
import {
  accountIdOf,
  accountKey,
  chargeKey,
  newAccountItem,
  shards,
  toAccount,
  toChargeItem,
  toChargeRecord,
} from './ledger-items.ts';

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
  apply: (record, holdAmountPicos) => apply(db.repeating, table, record, holdAmountPicos),
  readAccount: async (accountId) => {
    const item = await db.repeating.get(table, accountKey(accountId));
    return item && toAccount(item);
  },
  readRecord: async (accountId, holdId) => {
    const item = await db.repeating.get(table, chargeKey(accountId, holdId));
    return item && toChargeRecord(item);
  },
  createAccount: async (accountId) => {
    const reply = await db.repeating.put({
      table,
      item: newAccountItem(accountId),
      condition: 'attribute_not_exists(pk)',
    });
    return 'written' in reply ? 'created' : 'exists';
  },
  credit: (request) => credit(db.repeating, table, request),
  due: (nowMs) => due(db.repeating, table, nowMs),
  reschedule: (accountId, sweepAtMs) => reschedule(db.repeating, table, accountId, sweepAtMs),
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

const hold = async (db: DynamoDB, table: string, request: HoldRequest, holdFormat: HoldFormat): Promise<HoldReply> => {
  const { key, value } = toHoldEntry(request.holdId, request, holdFormat);
  const previous = request.previousHoldId === undefined ? {} : namesOf(request.previousHoldId, 'previous');
  const notBefore = Object.keys(previous)
    .map((name) => ` AND attribute_not_exists(holds.${name})`)
    .join('');
  const reply = await db.hot.update({
    table,
    key: accountKey(request.accountId),
    update:
      'SET available = available - :amount, holds.#id = :hold, version = version + :one, sweepAt = if_not_exists(sweepAt, :sweepAt)',
    condition:
      '#status = :active AND credited > spent AND available >= :amount AND attribute_not_exists(holds.#id) ' +
      `AND size(holds) < :holdsMax${notBefore}`,
    names: {
      '#id': key,
      '#status': 'status',
      ...previous,
    },
    values: {
      ':amount': request.amountPicos,
      ':hold': value,
      ':one': 1,
      ':sweepAt': request.sweepAtMs,
      ':active': 'active',
      ':holdsMax': HOLDS_MAX,
    },
    returns: 'ALL_NEW',
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return { kind: 'held', account: toAccount(reply.written) };
  return reply.conditionFailed
    ? { kind: 'refused', account: toAccount(reply.conditionFailed) }
    : { kind: 'no-account' };
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
/** A longer hold is of a newer release: its further bytes may name a cap that this release would not restore. */
const IS_PACKED = 'begins_with(holds.#idPacked, :start) AND size(holds.#idPacked) = :bytes';

const apply = async (
  db: DynamoDB,
  table: string,
  record: ChargeRecord,
  holdAmountPicos: bigint,
): Promise<Account | undefined> => {
  const names = namesOf(record.holdId, 'id');
  const start = packedStartOf(record.holdId, holdAmountPicos);
  const reply = await db.hot.update({
    table,
    key: accountKey(record.accountId),
    update:
      'SET available = available + :back, spent = spent + :charge, version = version + :one ' +
      `REMOVE ${Object.keys(names)
        .map((name) => `holds.${name}`)
        .join(', ')}`,
    condition: start ? `${IS_MAP} OR (${IS_PACKED})` : IS_MAP,
    names,
    values: {
      ':back': holdAmountPicos - record.amountPicos,
      ':charge': record.amountPicos,
      ':one': 1,
      ':amount': holdAmountPicos,
      ...(start && { ':start': start, ':bytes': PACKED_BYTES }),
    },
    returns: 'ALL_NEW',
  });
  return 'written' in reply ? toAccount(reply.written) : undefined;
};

/** Names of a hold's entry in both forms. Each hold id was sent in one of them. */
const namesOf = (holdId: string, name: 'id' | 'previous'): Record<string, string> => {
  const packedKey = packedKeyOf(holdId);
  return { [`#${name}`]: holdId, ...(packedKey !== undefined && { [`#${name}Packed`]: packedKey }) };
};

/** A sparse index contains the accounts with open holds, in the order of their next sweep. */
const due = async (db: DynamoDB, table: string, nowMs: number): Promise<Due[]> => {
  const perShard = await Promise.all(shards.map((shard) => dueOf(db, table, shard, nowMs)));
  return perShard.flat();
};

const dueOf = async (db: DynamoDB, table: string, shard: string, nowMs: number): Promise<Due[]> => {
  const items = await db.query({
    table,
    index: 'sweep',
    keyCondition: '#shard = :shard AND sweepAt <= :now',
    names: { '#shard': 'shard' },
    values: { ':shard': shard, ':now': nowMs },
  });
  return items.map((item) => ({ accountId: accountIdOf(item) }));
};

/**
 * Sets the account's next sweep. Without a time, removes the account from the sweep list, but only if it has no open
 * hold: one may have been placed since the caller's read.
 */
const reschedule = async (
  db: DynamoDB,
  table: string,
  accountId: string,
  sweepAtMs: number | undefined,
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
          condition: 'attribute_exists(pk)',
          values: { ':one': 1, ':at': sweepAtMs },
        };
  await db.update({ table, key: accountKey(accountId), ...change });
};
