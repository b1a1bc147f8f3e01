import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { CreditReply, CreditRequest } from '../../core/ledger/ledger.ts';
import { accountKey } from './account-item.ts';
import { type Item, number, readBigint, text } from './attributes.ts';
import { failed, transact } from './transaction.ts';

/** Record and account in one transaction: the same reference credits once, whatever is repeated. */
export const credit = async (client: DynamoDBClient, table: string, request: CreditRequest): Promise<CreditReply> => {
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
