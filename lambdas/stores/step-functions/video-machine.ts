import type { SFNClient } from '@aws-sdk/client-sfn';
import type { VideoMachine } from '../../core/videos/dependencies.ts';
import { toStoreError } from './failures.ts';

/**
 * One execution per video, of a STANDARD machine: there a start is idempotent, which it is not for an EXPRESS one. Nothing but the id
 * goes in, because inputs stay readable in an execution's history for months.
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
 */
export const createVideoMachine = (client: () => Promise<SFNClient>, stateMachineArn: string): VideoMachine => ({
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
