import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type QueryCommandInput,
  ScanCommand,
  type ScanCommandOutput,
} from '@aws-sdk/client-dynamodb';
import type { AuditCursor } from '../../core/ledger/audit-run.ts';
import type { ChargeRecord } from '../../core/ledger/ledger.ts';
import type {
  AccountPlace,
  CreditRecord,
  LedgerRecords,
  Operation,
  OperationLog,
  RecordPage,
  RecordRange,
} from '../../core/ledger/records.ts';
import { type Item, number, readBigint, readNumber, readText, text } from './attributes.ts';
import { send, toStoreError } from './failures.ts';
import { accountIdOf, toChargeRecord } from './ledger-items.ts';
import { query, withPrefix } from './query.ts';

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
  accountPlaces: (after) => accountPlaces(client, table, after),
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
    ExpressionAttributeValues: { ':pk': text(`account#${accountId}`), ':low': text(low), ':high': text(high) },
    ConsistentRead: true,
    ScanIndexForward: false,
    // BETWEEN includes its upper end, which is not wanted; and one beyond the limit tells whether there are more.
    Limit: limit + 2,
  };
  const items = await query(client, request, limit + 2);
  const wanted = items.filter((item) => item.sk?.S !== high);
  return { records: wanted.slice(0, limit).map(toNamed), more: wanted.length > limit };
};

/** A place is the key of the item that was read last, of whatever kind: an account may have millions between its own and the next. */
async function* accountPlaces(
  client: DynamoDBClient,
  table: string,
  after?: string,
): AsyncGenerator<AccountPlace, void> {
  let from = after === undefined ? undefined : toKey(after);
  do {
    const command = new ScanCommand({
      TableName: table,
      FilterExpression: 'sk = :account',
      ExpressionAttributeValues: { ':account': text('ACCOUNT') },
      ConsistentRead: true,
      ExclusiveStartKey: from,
    });
    const page: ScanCommandOutput = await client.send(command).catch((error: unknown) => {
      throw toStoreError(error);
    });
    for (const item of page.Items ?? []) yield { accountId: accountIdOf(item), place: toPlace(item) };
    from = page.LastEvaluatedKey;
    if (from) yield { place: toPlace(from) };
  } while (from);
}

/** Neither name has a line end. */
const toPlace = (item: Item): string => `${readText(item, 'pk')}\n${readText(item, 'sk')}`;

/** Undefined where it cannot be read, which is the beginning. */
const toKey = (place: string): Item | undefined => {
  const [pk, sk] = place.split('\n');
  return pk && sk ? { pk: text(pk), sk: text(sk) } : undefined;
};

const PREFIX = 'OPERATION#';

/** One item per operation, beside the account that it was done to. */
export const createOperationLog = (client: DynamoDBClient, table: string): OperationLog => ({
  add: async (operation) => {
    await send(() => client.send(new PutItemCommand({ TableName: table, Item: toItem(operation) })));
  },
  list: async (accountId) => {
    const items = await query(client, withPrefix(table, accountId, PREFIX));
    return items.map(toOperation);
  },
});

const toItem = ({ accountId, id, command, reason, ref, at }: Operation): Item => ({
  pk: text(`account#${accountId}`),
  sk: text(`${PREFIX}${id}`),
  accountId: text(accountId),
  command: text(command),
  reason: text(reason),
  ...(ref === undefined ? {} : { ref: text(ref) }),
  at: number(at),
});

const toOperation = (item: Item): Operation => ({
  accountId: readText(item, 'accountId'),
  id: readText(item, 'sk').slice(PREFIX.length),
  command: readText(item, 'command'),
  reason: readText(item, 'reason'),
  ...(item.ref === undefined ? {} : { ref: readText(item, 'ref') }),
  at: readNumber(item, 'at'),
});

const KEY = { pk: text('audit#cursor') };

/** One item in the table of counters. If it is lost, a pass begins anew. */
export const createAuditCursor = (client: DynamoDBClient, table: string): AuditCursor => ({
  read: async () => {
    const command = new GetItemCommand({ TableName: table, Key: KEY, ConsistentRead: true });
    const { Item } = await client.send(command).catch(rethrow);
    return Item?.place?.S;
  },
  write: async (place) => {
    const item = place === undefined ? KEY : { ...KEY, place: text(place) };
    await client.send(new PutItemCommand({ TableName: table, Item: item })).catch(rethrow);
  },
});

const rethrow = (error: unknown): never => {
  throw toStoreError(error);
};
