import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import {
  type Account,
  type ChargeRecord,
  type CreditReply,
  type CreditRequest,
  type Due,
  HOLDS_MAX,
  type HoldReply,
  type HoldRequest,
  type LedgerStore,
  type RecordReply,
} from '../../core/ledger/ledger.ts';
import { type Item, number, readBigint, text } from './attributes.ts';
import { send } from './failures.ts';
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
import { query } from './query.ts';
import { failed, transact } from './transaction.ts';

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

/** Accounts with open holds stand in a sparse index, ordered by when they are to be looked at. */
const due = async (client: DynamoDBClient, table: string, nowMs: number): Promise<Due[]> => {
  const perShard = await Promise.all(shards.map((shard) => dueOf(client, table, shard, nowMs)));
  return perShard.flat();
};

const dueOf = async (client: DynamoDBClient, table: string, shard: string, nowMs: number): Promise<Due[]> => {
  const items = await query(client, {
    TableName: table,
    IndexName: 'sweep',
    KeyConditionExpression: '#shard = :shard AND sweepAt <= :now',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: { ':shard': text(shard), ':now': number(nowMs) },
  });
  return items.map((item) => ({ accountId: accountIdOf(item) }));
};

/** Off the list only while no hold is open: one may have been placed since the caller looked. */
const reschedule = async (
  client: DynamoDBClient,
  table: string,
  accountId: string,
  sweepAtMs: number | undefined,
): Promise<void> => {
  const change: Pick<UpdateItemCommandInput, 'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'> =
    sweepAtMs === undefined
      ? {
          UpdateExpression: 'SET version = version + :one REMOVE sweepAt',
          ConditionExpression: 'size(holds) = :none',
          ExpressionAttributeValues: { ':one': number(1), ':none': number(0) },
        }
      : {
          UpdateExpression: 'SET version = version + :one, sweepAt = :at',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':one': number(1), ':at': number(sweepAtMs) },
        };
  await send(() => client.send(new UpdateItemCommand({ TableName: table, Key: accountKey(accountId), ...change })));
};

/** Record and account in one transaction: the same reference credits once, whatever is repeated. */
const credit = async (client: DynamoDBClient, table: string, request: CreditRequest): Promise<CreditReply> => {
  const cancelled = await transact(client, writes(table, request));
  if (!cancelled) return { kind: 'credited' };
  const [record] = cancelled;
  if (!failed(record) || !record?.Item) return { kind: 'no-account' };
  const amountPicos = readBigint(record.Item, 'amount');
  return amountPicos === request.amountPicos ? { kind: 'repeated' } : { kind: 'other-amount', amountPicos };
};

export const toCreditItem = ({ accountId, ref, amountPicos, reason, at }: CreditRequest): Item => ({
  pk: text(`account#${accountId}`),
  sk: text(`CREDIT#${ref}`),
  accountId: text(accountId),
  ref: text(ref),
  amount: number(amountPicos),
  reason: text(reason),
  at: number(at),
});

const writes = (table: string, request: CreditRequest) => [
  {
    Put: {
      TableName: table,
      Item: toCreditItem(request),
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  },
  {
    Update: {
      TableName: table,
      Key: accountKey(request.accountId),
      UpdateExpression: 'SET available = available + :amount, credited = credited + :amount, version = version + :one',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':amount': number(request.amountPicos), ':one': number(1) },
    },
  },
];
