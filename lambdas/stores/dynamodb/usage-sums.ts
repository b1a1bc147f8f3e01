import type { LedgerRecords } from '../../core/ledger/records.ts';
import type { UsageCell, UsageSums } from '../../core/ledger/usage-sums.ts';
import { type DynamoDB, type PutRequest, withPrefix } from './dynamodb.ts';
import { type Item, isList, optionalText, readBigint, readMap, readNumber, readText, type Value } from './item.ts';
import { accountKey, LATE_PREFIX, lateKey, toAccount, toChargeRecord } from './ledger-items.ts';

type UsageSumsRecords = Pick<LedgerRecords, 'usageSums' | 'countTo' | 'lateCharges' | 'keepUsageSums'>;

/** Stores one item per account and period, with the sums of its cells, and one per late charge. */
export const createUsageSums = (db: DynamoDB, table: string): UsageSumsRecords => ({
  usageSums: async (accountId, fromPeriod, toPeriod) => {
    const { pk = '', sk: low = '' } = keyOf(accountId, fromPeriod);
    const { sk: high = '' } = keyOf(accountId, toPeriod);
    const items = await db.query({
      table,
      keyCondition: 'pk = :pk AND sk BETWEEN :low AND :high',
      values: { ':pk': pk, ':low': low, ':high': high },
      isConsistent: true,
    });
    return items.map(toSums);
  },
  countTo: async (accountId, id) => {
    const reply = await db.update({
      table,
      key: accountKey(accountId),
      // A write that was computed from an earlier version must not follow, because its charge can be late now.
      update: 'SET countedToId = :id, version = version + :one',
      condition: 'attribute_exists(pk) AND (attribute_not_exists(countedToId) OR countedToId < :id)',
      values: { ':id': id, ':one': 1 },
      returns: 'ALL_NEW',
      onFailure: 'ALL_OLD',
    });
    const item = 'written' in reply ? reply.written : reply.conditionFailed;
    return item && toAccount(item);
  },
  lateCharges: async (accountId, limit) => {
    const items = await db.query({ ...withPrefix(table, accountId, LATE_PREFIX), limit }, limit);
    return items.slice(0, limit).map(toChargeRecord);
  },
  keepUsageSums: async (accountId, sums, lateHoldIds = []) => {
    const puts = sums.map((one) => toPut(table, accountId, one));
    const [only, ...others] = puts;
    if (only && others.length + lateHoldIds.length === 0) return 'written' in (await db.put(only));
    const removed = lateHoldIds.map((holdId) => ({
      delete: { table, key: lateKey(accountId, holdId), condition: 'attribute_exists(pk)' },
    }));
    return (await db.transact([...puts.map((put) => ({ put })), ...removed])) === undefined;
  },
});

const PREFIX = 'USAGE_SUMS#';

const keyOf = (accountId: string, period: string): Item => ({ pk: `account#${accountId}`, sk: `${PREFIX}${period}` });

const toPut = (table: string, accountId: string, sums: UsageSums): PutRequest => ({
  table,
  item: { ...keyOf(accountId, sums.period), ...toItem(sums) },
  ...(sums.revision === 1
    ? { condition: 'attribute_not_exists(revision)' }
    : { condition: 'revision = :before', values: { ':before': sums.revision - 1 } }),
});

const toItem = ({ cells, fromId, revision }: UsageSums): Item => ({
  cells: cells.map(toCellItem),
  revision,
  ...(fromId === undefined ? {} : { fromId }),
});

const toCellItem = ({ model, keyId, endUser, isOther, ...sums }: UsageCell): Item => ({
  ...(model === undefined ? {} : { model }),
  ...(keyId === undefined ? {} : { keyId }),
  ...(endUser === undefined ? {} : { endUser }),
  ...(isOther ? { isOther } : {}),
  requests: sums.requests,
  amount: sums.amountPicos,
  input: sums.inputTokens,
  output: sums.outputTokens,
});

const toSums = (item: Item): UsageSums => {
  if (!isList(item.cells)) throw new Error('a stored item has no list "cells"');
  const fromId = optionalText(item, 'fromId');
  return {
    period: readText(item, 'sk').slice(PREFIX.length),
    cells: item.cells.map(toCell),
    revision: item.revision === undefined ? 0 : readNumber(item, 'revision'),
    ...(fromId === undefined ? {} : { fromId }),
  };
};

const toCell = (cell: Value): UsageCell => {
  const item = readMap({ cell }, 'cell');
  return {
    ...namesOf(item),
    ...(item.isOther === true && { isOther: true }),
    requests: readNumber(item, 'requests'),
    amountPicos: readBigint(item, 'amount'),
    inputTokens: readNumber(item, 'input'),
    outputTokens: readNumber(item, 'output'),
  };
};

const namesOf = (item: Item): Pick<UsageCell, 'model' | 'keyId' | 'endUser'> =>
  Object.fromEntries(
    ['model', 'keyId', 'endUser'].flatMap((name) => {
      const text = optionalText(item, name);
      return text === undefined ? [] : [[name, text]];
    }),
  );
