import { type DynamoDBClient, TransactionCanceledException, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import type { CreditReply, CreditRequest } from '../../core/ledger/ledger-store.ts';
import { accountKey } from './account-item.ts';
import { number, readBigint, text } from './attributes.ts';
import { toStoreError } from './failures.ts';

/** Record and account in one transaction: the same reference credits once, whatever is repeated. */
export const credit = async (client: DynamoDBClient, table: string, request: CreditRequest): Promise<CreditReply> => {
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems: writes(table, request) }));
    return { kind: 'credited' };
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw toStoreError(error);
    const [record, account] = error.CancellationReasons ?? [];
    if (record?.Code === 'ConditionalCheckFailed' && record.Item) {
      const amountPicos = readBigint(record.Item, 'amount');
      return amountPicos === request.amountPicos ? { kind: 'repeated' } : { kind: 'other-amount', amountPicos };
    }
    if (account?.Code === 'ConditionalCheckFailed') return { kind: 'no-account' };
    // A cancelled transaction certainly did not happen.
    const throttled = [record, account].some((reason) => /Throttling|Throughput/.test(reason?.Code ?? ''));
    throw new StoreError(throttled ? 'throttled' : 'conflict', error.name, error);
  }
};

const writes = (table: string, { accountId, ref, amountPicos, reason, at }: CreditRequest) => [
  {
    Put: {
      TableName: table,
      Item: {
        pk: text(`account#${accountId}`),
        sk: text(`CREDIT#${ref}`),
        accountId: text(accountId),
        ref: text(ref),
        amount: number(amountPicos),
        reason: text(reason),
        at: number(at),
      },
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  },
  {
    Update: {
      TableName: table,
      Key: accountKey(accountId),
      UpdateExpression: 'SET available = available + :amount, credited = credited + :amount, version = version + :one',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':amount': number(amountPicos), ':one': number(1) },
    },
  },
];
