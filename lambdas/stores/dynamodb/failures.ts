import {
  ConditionalCheckFailedException,
  ProvisionedThroughputExceededException,
  RequestLimitExceeded,
  ThrottlingException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { StoreError } from '../../core/errors/store-error.ts';
import { isMistake } from '../programming-errors.ts';
import type { Item } from './attributes.ts';

/**
 * Runs one call. A failed condition is an answer: the item as it stood, or undefined if there is none. Whatever else goes
 * wrong becomes a StoreError of the kind that tells whether the write may have happened.
 */
export const send = async <T>(call: () => Promise<T>): Promise<{ ok: T } | { conditionFailed: Item | undefined }> => {
  try {
    return { ok: await call() };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { conditionFailed: error.Item };
    throw toStoreError(error);
  }
};

const mistakes: ReadonlySet<string> = new Set(['ValidationException', 'SerializationException']);

/** Throws a mistake as it is. */
export const toStoreError = (error: unknown): StoreError => {
  const name = error instanceof Error ? error.name : 'unknown';
  if (isMistake(error, mistakes)) throw error;
  if (
    error instanceof ThrottlingException ||
    error instanceof ProvisionedThroughputExceededException ||
    error instanceof RequestLimitExceeded
  ) {
    return new StoreError('throttled', name, error);
  }
  if (error instanceof TransactionConflictException) return new StoreError('conflict', name, error);
  return new StoreError('unavailable', name, error);
};
