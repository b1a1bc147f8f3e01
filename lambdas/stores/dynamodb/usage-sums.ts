import type { LedgerRecords } from '../../core/ledger/records.ts';
import type { UsageCell, UsageSums } from '../../core/ledger/usage-sums.ts';
import type { DynamoDB } from './dynamodb.ts';
import { type Item, isList, optionalText, readBigint, readMap, readNumber, readText, type Value } from './item.ts';

/** Stores one item per account and period, with the sums of its cells. */
export const createUsageSums = (db: DynamoDB, table: string): Pick<LedgerRecords, 'usageSums' | 'keepUsageSums'> => ({
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
  keepUsageSums: async (accountId, sums, seenId) => {
    await db.put({ table, item: { ...keyOf(accountId, sums.period), ...toItem(sums) }, ...ifSeen(seenId) });
  },
});

const PREFIX = 'USAGE_SUMS#';

const keyOf = (accountId: string, period: string): Item => ({ pk: `account#${accountId}`, sk: `${PREFIX}${period}` });

/** Each read of a part moves the place, so the place identifies the part. Complete sums have none. */
const ifSeen = (seenId: string | undefined) =>
  seenId === undefined
    ? { condition: 'attribute_not_exists(pk)' }
    : { condition: 'fromId = :seen', values: { ':seen': seenId } };

const toItem = ({ cells, fromId }: UsageSums): Item => ({
  cells: cells.map(toCellItem),
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
