import {
  type CancellationReason,
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import type { Item } from './attributes.ts';
import { toStoreError } from './failures.ts';

export type Cancelled = readonly CancellationReason[];

/**
 * All of the writes or none. Undefined when they happened; else, for each write in its place, why not, at least one of them a failed
 * condition. Throws StoreError when the store was busy with other writes, which certainly left everything as it was, and when it gave
 * no answer.
 */
export const transact = async (
  client: DynamoDBClient,
  TransactItems: TransactWriteItem[],
): Promise<Cancelled | undefined> => {
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems }));
    return undefined;
  } catch (error) {
    if (!(error instanceof TransactionCanceledException)) throw toStoreError(error);
    const reasons = error.CancellationReasons ?? [];
    if (reasons.some(failed)) return reasons;
    // A mistake of ours, which no repeat mends.
    if (reasons.some(({ Code }) => Code === 'ValidationError')) throw error;
    const throttled = reasons.some(({ Code }) => /Throttling|Throughput/.test(Code ?? ''));
    throw new StoreError(throttled ? 'throttled' : 'conflict', error.name, error);
  }
};

/** The write of an item that must not be there yet. */
export const putNew = (TableName: string, Item: Item): TransactWriteItem => ({
  Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' },
});

/** Its condition did not hold. */
export const failed = (reason: CancellationReason | undefined): boolean => reason?.Code === 'ConditionalCheckFailed';
