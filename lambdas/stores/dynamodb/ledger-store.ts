import { type DynamoDBClient, GetItemCommand, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { ChargeRecord, HoldReply, HoldRequest, LedgerStore, RecordReply } from '../../core/ledger/ledger.ts';
import { type Account, HOLDS_MAX } from '../../core/ledger/ledger.ts';
import { accountKey, newAccountItem, toAccount } from './account-item.ts';
import { number, text } from './attributes.ts';
import { chargeKey, toChargeItem, toChargeRecord } from './charge-record-item.ts';
import { credit } from './credit.ts';
import { send } from './failures.ts';
import { due, reschedule } from './sweep-list.ts';

/** The ledger on one table. Each method is one conditional write or one consistent read. */
export const createLedgerStore = (
  clients: { readonly once: DynamoDBClient; readonly repeating: DynamoDBClient },
  table: string,
): LedgerStore => ({
  hold: (request) => hold(clients.once, table, request),
  putRecord: (record) => putRecord(clients.repeating, table, record),
  apply: (record, holdAmountPicos) => apply(clients.repeating, table, record, holdAmountPicos),
  readAccount: async (accountId) => {
    const item = await get(clients.repeating, table, accountKey(accountId));
    return item && toAccount(item);
  },
  readRecord: async (accountId, holdId) => {
    const item = await get(clients.repeating, table, chargeKey(accountId, holdId));
    return item && toChargeRecord(item);
  },
  createAccount: async (accountId) => {
    const reply = await send(() =>
      clients.repeating.send(
        new PutItemCommand({
          TableName: table,
          Item: newAccountItem(accountId),
          ConditionExpression: 'attribute_not_exists(pk)',
        }),
      ),
    );
    return 'ok' in reply ? 'created' : 'exists';
  },
  credit: (request) => credit(clients.repeating, table, request),
  due: (nowMs) => due(clients.repeating, table, nowMs),
  reschedule: (accountId, sweepAtMs) => reschedule(clients.repeating, table, accountId, sweepAtMs),
});

const get = async (client: DynamoDBClient, table: string, key: ReturnType<typeof accountKey>) => {
  const reply = await send(() => client.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true })));
  return 'ok' in reply ? reply.ok.Item : undefined;
};

const hold = async (client: DynamoDBClient, table: string, request: HoldRequest): Promise<HoldReply> => {
  const notBefore = request.previousHoldId === undefined ? '' : ' AND attribute_not_exists(holds.#previous)';
  const reply = await send(() =>
    client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: accountKey(request.accountId),
        UpdateExpression:
          'SET available = available - :amount, holds.#id = :hold, version = version + :one, sweepAt = if_not_exists(sweepAt, :sweepAt)',
        ConditionExpression:
          '#status = :active AND credited > spent AND available >= :amount AND attribute_not_exists(holds.#id) ' +
          `AND size(holds) < :holdsMax${notBefore}`,
        ExpressionAttributeNames: {
          '#id': request.holdId,
          '#status': 'status',
          ...(request.previousHoldId === undefined ? {} : { '#previous': request.previousHoldId }),
        },
        ExpressionAttributeValues: {
          ':amount': number(request.amountPicos),
          ':hold': { M: { amount: number(request.amountPicos), expiresAt: number(request.expiresAtMs) } },
          ':one': number(1),
          ':sweepAt': number(request.sweepAtMs),
          ':active': text('active'),
          ':holdsMax': number(HOLDS_MAX),
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return { kind: 'held', account: toAccount(reply.ok.Attributes ?? {}) };
  return reply.conditionFailed
    ? { kind: 'refused', account: toAccount(reply.conditionFailed) }
    : { kind: 'no-account' };
};

const putRecord = async (client: DynamoDBClient, table: string, record: ChargeRecord): Promise<RecordReply> => {
  const reply = await send(() =>
    client.send(
      new PutItemCommand({
        TableName: table,
        Item: toChargeItem(record),
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return { kind: 'written' };
  if (!reply.conditionFailed) throw new Error('a record exists, but the store did not show it');
  return { kind: 'exists', record: toChargeRecord(reply.conditionFailed) };
};

const apply = async (
  client: DynamoDBClient,
  table: string,
  record: ChargeRecord,
  holdAmountPicos: bigint,
): Promise<Account | undefined> => {
  const reply = await send(() =>
    client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: accountKey(record.accountId),
        UpdateExpression:
          'SET available = available + :back, spent = spent + :charge, version = version + :one REMOVE holds.#id',
        ConditionExpression: 'holds.#id.amount = :amount',
        ExpressionAttributeNames: { '#id': record.holdId },
        ExpressionAttributeValues: {
          ':back': number(holdAmountPicos - record.amountPicos),
          ':charge': number(record.amountPicos),
          ':one': number(1),
          ':amount': number(holdAmountPicos),
        },
        ReturnValues: 'ALL_NEW',
      }),
    ),
  );
  return 'ok' in reply && reply.ok.Attributes ? toAccount(reply.ok.Attributes) : undefined;
};
