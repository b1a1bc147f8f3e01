import { StoreError } from '../../core/errors/store-error.ts';
import { isMistake } from '../mistakes.ts';

/** Answers undefined where there is no such object. Whatever else goes wrong becomes a StoreError. */
export const find = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await call();
  } catch (error) {
    // A missing bucket is a 404 as well, and must not look like a missing object.
    if (error instanceof Error && error.name === 'NoSuchKey') return undefined;
    throw toStoreError(error);
  }
};

/** Runs one call whose object, or whose absence, is of no interest. */
export const send = async <T>(call: () => Promise<T>): Promise<T> => {
  try {
    return await call();
  } catch (error) {
    throw toStoreError(error);
  }
};

/** By name: the error classes would bring the client along, which is loaded on demand. */
const throttles: ReadonlySet<string> = new Set([
  'SlowDown',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

const mistakes: ReadonlySet<string> = new Set([
  'EntityTooLarge',
  'InvalidArgument',
  'InvalidBucketName',
  'InvalidRequest',
  'KeyTooLongError',
  'MalformedXML',
]);

/** Throws a mistake as it is. */
const toStoreError = (error: unknown): StoreError => {
  if (isMistake(error, mistakes)) throw error;
  const name = error instanceof Error ? error.name : 'unknown';
  return new StoreError(throttles.has(name) ? 'throttled' : 'unavailable', name, error);
};
