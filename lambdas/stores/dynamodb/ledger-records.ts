import { type DynamoDBClient, QueryCommand, type QueryCommandInput, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { ChargeRecord } from '../../core/ledger/charge-record.ts';
import type { CreditRecord, LedgerRecords, RecordPage, RecordRange } from '../../core/ledger/ledger-records.ts';
import { accountIdOf } from './account-item.ts';
import { type Item, readBigint, readNumber, readText, text } from './attributes.ts';
import { toChargeRecord } from './charge-record-item.ts';
import { toStoreError } from './failures.ts';

export const createLedgerRecords = (client: DynamoDBClient, table: string): LedgerRecords => ({
  listRecords: (accountId, range) => listRecords(client, table, accountId, range),
  recordsOfRequest: async (accountId, requestId) => {
    const items = await query(client, withPrefix(table, accountId, `CHARGE#${requestId}.`));
    return items.map(toNamed);
  },
  readCredits: async (accountId) => {
    const items = await query(client, withPrefix(table, accountId, 'CREDIT#'));
    return items.map(toCredit);
  },
  accountIds: () => accountIds(client, table),
});

/** Whoever cannot read a record has to be told which one. */
const toNamed = (item: Item): ChargeRecord => {
  try {
    return toChargeRecord(item);
  } catch (cause) {
    throw new Error(`${item.sk?.S}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

const toCredit = (item: Item): CreditRecord => ({
  ref: readText(item, 'ref'),
  amountPicos: readBigint(item, 'amount'),
  reason: readText(item, 'reason'),
  at: readNumber(item, 'at'),
});

const partition = (accountId: string) => text(`account#${accountId}`);

/** Everything of an account whose sort key begins like this. */
export const withPrefix = (table: string, accountId: string, prefix: string): QueryCommandInput => ({
  TableName: table,
  KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
  ExpressionAttributeValues: { ':pk': partition(accountId), ':prefix': text(prefix) },
  ConsistentRead: true,
});

/** The first name after every `CHARGE#...`. */
const AFTER_CHARGES = 'CHARGE$';

const listRecords = async (
  client: DynamoDBClient,
  table: string,
  accountId: string,
  { fromHoldId = '', beforeHoldId, limit }: RecordRange,
): Promise<RecordPage> => {
  const high = beforeHoldId === undefined ? AFTER_CHARGES : `CHARGE#${beforeHoldId}`;
  const low = `CHARGE#${fromHoldId}`;
  if (low > high) return { records: [], more: false };
  const request: QueryCommandInput = {
    TableName: table,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :low AND :high',
    ExpressionAttributeValues: { ':pk': partition(accountId), ':low': text(low), ':high': text(high) },
    ConsistentRead: true,
    ScanIndexForward: false,
    // BETWEEN includes its upper end, which is not wanted; and one beyond the limit tells whether there are more.
    Limit: limit + 2,
  };
  const items = await query(client, request, limit + 2);
  const wanted = items.filter((item) => item.sk?.S !== high);
  return { records: wanted.slice(0, limit).map(toNamed), more: wanted.length > limit };
};

/** An answer has a megabyte at most, so a query may take several; `enough` items end it. */
export const query = async (
  client: DynamoDBClient,
  request: QueryCommandInput,
  enough = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const page = await sent(() =>
      client.send(new QueryCommand({ ...request, ...(from ? { ExclusiveStartKey: from } : {}) })),
    );
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from && items.length < enough);
  return items;
};

async function* accountIds(client: DynamoDBClient, table: string): AsyncGenerator<string, void> {
  let from: Item | undefined;
  do {
    const page = await sent(() =>
      client.send(
        new ScanCommand({
          TableName: table,
          FilterExpression: 'sk = :account',
          ExpressionAttributeValues: { ':account': text('ACCOUNT') },
          ConsistentRead: true,
          ...(from ? { ExclusiveStartKey: from } : {}),
        }),
      ),
    );
    for (const item of page.Items ?? []) yield accountIdOf(item);
    from = page.LastEvaluatedKey;
  } while (from);
}

const sent = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    throw toStoreError(error);
  }
};
