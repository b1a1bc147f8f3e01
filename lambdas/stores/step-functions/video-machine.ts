import type { SFNClient } from '@aws-sdk/client-sfn';
import { StoreError } from '../../core/errors/store-error.ts';
import type { VideoWorkflow } from '../../core/videos/dependencies.ts';
import { isProgrammingError } from '../programming-errors.ts';

/**
 * Starts one execution per video, on a STANDARD machine, where a start is idempotent; on an EXPRESS machine it is not.
 * The input is only the id, because inputs stay readable in the execution history for months.
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
 */
export const createVideoWorkflow = (client: () => Promise<SFNClient>, stateMachineArn: string): VideoWorkflow => ({
  start: async (videoId) => {
    const [{ StartExecutionCommand }, stepFunctions] = await Promise.all([import('@aws-sdk/client-sfn'), client()]);
    const input = JSON.stringify({ videoId });
    try {
      await stepFunctions.send(new StartExecutionCommand({ stateMachineArn, name: videoId, input }));
      return 'running';
    } catch (error) {
      // An execution with this name has ended, or has another input. A video id never has another input.
      if (error instanceof Error && error.name === 'ExecutionAlreadyExists') return 'ended';
      throw toStoreError(error);
    }
  },
});

/**
 * Compares names, because the error classes would load the client, which is loaded on demand. None of these errors
 * starts an execution.
 */
const throttles: ReadonlySet<string> = new Set([
  'ExecutionLimitExceeded',
  'KmsThrottlingException',
  'RequestLimitExceeded',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
]);

const programmingErrors: ReadonlySet<string> = new Set([
  'InvalidArn',
  'InvalidExecutionInput',
  'InvalidName',
  'SerializationException',
  'ValidationException',
]);

/** Throws a programming error unchanged. */
const toStoreError = (error: unknown): StoreError => {
  if (isProgrammingError(error, programmingErrors)) throw error;
  const name = error instanceof Error ? error.name : 'unknown';
  return new StoreError(throttles.has(name) ? 'throttled' : 'unavailable', name, error);
};
