import { StoreError } from '../../core/errors/store-error.ts';
import { isMistake } from '../mistakes.ts';

/** By name: the error classes would bring the client along, which is loaded on demand. None of these started anything. */
const throttles: ReadonlySet<string> = new Set([
  'ExecutionLimitExceeded',
  'KmsThrottlingException',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

const mistakes: ReadonlySet<string> = new Set([
  'InvalidArn',
  'InvalidExecutionInput',
  'InvalidName',
  'SerializationException',
  'ValidationException',
]);

/** Throws a mistake as it is. */
export const toStoreError = (error: unknown): StoreError => {
  if (isMistake(error, mistakes)) throw error;
  const name = error instanceof Error ? error.name : 'unknown';
  return new StoreError(throttles.has(name) ? 'throttled' : 'unavailable', name, error);
};
