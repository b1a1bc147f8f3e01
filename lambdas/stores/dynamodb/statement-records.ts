import type { ModelCharges, MonthCharges } from '../../core/ledger/month.ts';
import type { LedgerRecords } from '../../core/ledger/records.ts';
import { monthCreditPrefix, toCreditRecord } from './credit-items.ts';
import { type DynamoDB, type QueryRequest, withPrefix } from './dynamodb.ts';
import { type Item, isList, optionalText, readBigint, readMap, readNumber, type Value } from './item.ts';
import { closingKey, toClosing } from './replace-account.ts';

type StatementRecords = Pick<
  LedgerRecords,
  'creditsOfMonth' | 'closings' | 'firstClosing' | 'readCharges' | 'keepCharges'
>;

/** Creates the reads of statements. Each is one query or one read of the account's partition. */
export const createStatementRecords = (db: DynamoDB, table: string): StatementRecords => {
  const readCharges = async (accountId: string, month: string) => {
    const item = await db.get(table, chargesKey(accountId, month));
    return item && toCharges(item);
  };
  return {
    creditsOfMonth: async (accountId, month) => {
      const items = await db.query(withPrefix(table, accountId, monthCreditPrefix(month)));
      return items.map(toCreditRecord);
    },
    closings: async (accountId, throughMonth, limit) => {
      const items = await db.query({ ...closingsTo(table, accountId, throughMonth), isForward: false, limit }, limit);
      return items.slice(0, limit).map(toClosing);
    },
    firstClosing: async (accountId) => {
      const [item] = await db.query({ ...closingsTo(table, accountId, LAST_MONTH), limit: 1 }, 1);
      return item && toClosing(item);
    },
    readCharges,
    keepCharges: async (accountId, month, charges, seenHoldId) => {
      const item = { ...chargesKey(accountId, month), ...toChargesItem(charges) };
      const reply = await db.put({ table, item, ...ifSeen(seenHoldId), onFailure: 'ALL_OLD' });
      if ('written' in reply) return charges;
      if (!reply.conditionFailed) throw new Error('charges of a month exist, but the store did not show them');
      return toCharges(reply.conditionFailed);
    },
  };
};

/** Sorts after every month. */
const LAST_MONTH = '~';

const closingsTo = (table: string, accountId: string, throughMonth: string): QueryRequest => {
  const { pk = '', sk: low = '' } = closingKey(accountId, '');
  const { sk: high = '' } = closingKey(accountId, throughMonth);
  return {
    table,
    keyCondition: 'pk = :pk AND sk BETWEEN :low AND :high',
    values: { ':pk': pk, ':low': low, ':high': high },
    isConsistent: true,
  };
};

/** Charges of a closed month by model. The prefix differs from that of closings. */
const chargesKey = (accountId: string, month: string): Item => ({
  pk: `account#${accountId}`,
  sk: `STATEMENT_CHARGES#${month}`,
});

/**
 * Replaces only the charges that the caller has read. `seenHoldId` is undefined if the caller found none. Each write of
 * incomplete charges stores a different `beforeHoldId`, so this id identifies them. Complete charges have no such id,
 * and are never replaced.
 */
const ifSeen = (seenHoldId: string | undefined) =>
  seenHoldId === undefined
    ? { condition: 'attribute_not_exists(pk)' }
    : { condition: 'beforeHoldId = :seen', values: { ':seen': seenHoldId } };

const toChargesItem = ({ models, beforeHoldId }: MonthCharges): Item => ({
  charges: models.map(toModelItem),
  ...(beforeHoldId === undefined ? {} : { beforeHoldId }),
});

const toModelItem = ({ model, requests, amountPicos }: ModelCharges): Item => ({
  ...(model === undefined ? {} : { model }),
  requests,
  amount: amountPicos,
});

const toCharges = (item: Item): MonthCharges => {
  if (!isList(item.charges)) throw new Error('a stored item has no list "charges"');
  const beforeHoldId = optionalText(item, 'beforeHoldId');
  return { models: item.charges.map(toModel), ...(beforeHoldId === undefined ? {} : { beforeHoldId }) };
};

const toModel = (charge: Value): ModelCharges => {
  const item = readMap({ charge }, 'charge');
  return {
    model: optionalText(item, 'model'),
    requests: readNumber(item, 'requests'),
    amountPicos: readBigint(item, 'amount'),
  };
};
