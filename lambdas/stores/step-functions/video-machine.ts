import type { SFNClient } from '@aws-sdk/client-sfn';
import { StoreError } from '../../core/errors/store-error.ts';
import type { VideoWorkflow } from '../../core/videos/dependencies.ts';
import { isProgrammingError } from '../programming-errors.ts';

/**
 * One execution per video, of a STANDARD machine: there a start is idempotent, which it is not for an EXPRESS one. Nothing but the id
 * goes in, because inputs stay readable in an execution's history for months.
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
      // The name is taken by one that is over, or by one with another input. There is no other input under a video's id.
      if (error instanceof Error && error.name === 'ExecutionAlreadyExists') return 'ended';
      throw toStoreError(error);
    }
  },
});

/** By name: the error classes would bring the client along, which is loaded on demand. None of these started anything. */
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

/** Throws a mistake as it is. */
const toStoreError = (error: unknown): StoreError => {
  if (isProgrammingError(error, programmingErrors)) throw error;
  const name = error instanceof Error ? error.name : 'unknown';
  return new StoreError(throttles.has(name) ? 'throttled' : 'unavailable', name, error);
};
