import type { StateMachineDefinition } from 'aws-local-stepfunctions';
import type { Settings } from '../../lambdas/settings.ts';
import { readDefinition, toSubstitutions } from './definition.ts';

/** Seconds after the time limit of a video at which its execution counts as dead and the video is released. */
export const LAST_STEPS_SECONDS_MAX = 3_300;

/** Steps after the last check of a video's age, each with all its retries. */
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
 * Returns the longest time in seconds that an execution continues beyond the limit. Throws an Error for a step without
 * a bound.
 */
export const lastStepsSeconds = ({ States }: StateMachineDefinition, settings: VideoSettings): number =>
  lastTasks.reduce((sum, name) => sum + taskSeconds(name, States[name]), settings.VIDEO_POLL_SECONDS_MAX);

/** Error of a step while workers are paused for maintenance (OPS-15). Its retries have no limit except the hold. */
const PAUSED_ERROR = 'MaintenancePaused';

/** Adds up all attempts of a step at their timeout, and the waits between them. Leaves out a maintenance. */
const taskSeconds = (name: string, state: StateMachineDefinition['States'][string] | undefined): number => {
  if (state?.Type !== 'Task' || state.TimeoutSeconds === undefined) throw new Error(`The step ${name} has no timeout.`);
  let seconds = state.TimeoutSeconds;
  const retries = (state.Retry ?? []).filter(({ ErrorEquals }) => !ErrorEquals.includes(PAUSED_ERROR));
  for (const { MaxAttempts, IntervalSeconds, BackoffRate, MaxDelaySeconds } of retries) {
    if (MaxAttempts === undefined || IntervalSeconds === undefined || BackoffRate === undefined)
      throw new Error(`The step ${name} has a retry without its own limits.`);
    for (let attempt = 0; attempt < MaxAttempts; attempt++)
      seconds += state.TimeoutSeconds + Math.min(IntervalSeconds * BackoffRate ** attempt, MaxDelaySeconds ?? Infinity);
  }
  return seconds;
};

/**
 * Returns the problem with the times of videos; undefined if there is none. With such times, a video could be charged
 * after its hold was released, or released just before its charge. The client would then not get a video that the
 * provider was paid for.
 */
export const tightTimesIn = (settings: VideoSettings): string | undefined => {
  const definition = readDefinition(toSubstitutions({ stepFunctionArn: 'arn:unknown', settings }));
  const lastSeconds = lastStepsSeconds(definition, settings);
  if (lastSeconds > LAST_STEPS_SECONDS_MAX)
    return `The last steps of a video take up to ${lastSeconds} s, more than ${LAST_STEPS_SECONDS_MAX} s. Lower VIDEO_RETRY_SECONDS or VIDEO_POLL_SECONDS_MAX`;
  const heldAtLeast = settings.VIDEO_LIMIT_SECONDS + LAST_STEPS_SECONDS_MAX;
  return settings.VIDEO_HOLD_SECONDS < heldAtLeast
    ? `VIDEO_HOLD_SECONDS is ${settings.VIDEO_HOLD_SECONDS} and must be at least ${heldAtLeast}, which is VIDEO_LIMIT_SECONDS plus the last steps`
    : undefined;
};
