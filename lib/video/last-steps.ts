import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Settings } from '../../lambdas/settings.ts';
import { readDefinition, toSubstitutions } from './definition.ts';

/** An execution that is older than its limit by this much is taken for dead, and its video is released. */
export const LAST_STEPS_SECONDS_MAX = 3_300;

/** What happens after the last look at a video's age, when everything is repeated as often as it may be. */
const lastTasks = ['Poll', 'Store', 'Charge', 'Finish', 'Release'] as const;

type VideoSettings = Pick<
  Settings,
  | 'VIDEO_POLL_SECONDS'
  | 'VIDEO_POLL_SECONDS_MAX'
  | 'VIDEO_LIMIT_SECONDS'
  | 'VIDEO_HOLD_SECONDS'
  | 'VIDEO_RETRY_SECONDS'
  | 'VIDEO_WEBHOOK_RETRY_SECONDS'
>;

/**
 * How long an execution may go on beyond the limit until its video has ended. Throws an Error for a step that has no bound.
 */
export const lastStepsSeconds = ({ States }: StateMachineDefinition, settings: VideoSettings): number =>
  lastTasks.reduce((sum, name) => sum + taskSeconds(name, States[name]), settings.VIDEO_POLL_SECONDS_MAX);

/** Every try up to its own end, and the waits between them. */
const taskSeconds = (name: string, state: StateMachineDefinition['States'][string] | undefined): number => {
  if (state?.Type !== 'Task' || state.TimeoutSeconds === undefined) throw new Error(`The step ${name} has no timeout`);
  let seconds = state.TimeoutSeconds;
  for (const { MaxAttempts, IntervalSeconds, BackoffRate, MaxDelaySeconds } of state.Retry ?? []) {
    if (MaxAttempts === undefined || IntervalSeconds === undefined || BackoffRate === undefined)
      throw new Error(`The step ${name} is repeated without a bound of its own`);
    for (let attempt = 0; attempt < MaxAttempts; attempt++)
      seconds += state.TimeoutSeconds + Math.min(IntervalSeconds * BackoffRate ** attempt, MaxDelaySeconds ?? Infinity);
  }
  return seconds;
};

/**
 * What is wrong with times with which a video could still be charged after its hold has been released, or be released while it is
 * about to be charged: it would be withheld though the vendor has been paid.
 */
export const tightTimesIn = (settings: VideoSettings): string | undefined => {
  const definition = readDefinition(toSubstitutions({ stepFunctionArn: 'arn:unknown', settings }));
  const lastSeconds = lastStepsSeconds(definition, settings);
  if (lastSeconds > LAST_STEPS_SECONDS_MAX)
    return `The last steps of a video take up to ${lastSeconds} s, which is more than ${LAST_STEPS_SECONDS_MAX} s: lower VIDEO_RETRY_SECONDS or VIDEO_POLL_SECONDS_MAX`;
  const heldAtLeast = settings.VIDEO_LIMIT_SECONDS + LAST_STEPS_SECONDS_MAX;
  return settings.VIDEO_HOLD_SECONDS < heldAtLeast
    ? `VIDEO_HOLD_SECONDS is ${settings.VIDEO_HOLD_SECONDS} and has to be ${heldAtLeast} or more: VIDEO_LIMIT_SECONDS and the last steps`
    : undefined;
};
