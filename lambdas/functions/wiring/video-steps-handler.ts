import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { VideoStepDependencies } from '../../core/videos/dependencies.ts';
import { chargeVideo, finishVideo, notifyVideo, releaseVideo, storeVideo } from '../../core/videos/finish-video.ts';
import { pollVideo } from '../../core/videos/poll-video.ts';
import { isVideoId } from '../../core/videos/video-job.ts';
import type { VideoFunctionDependencies } from './dependencies.ts';
import { isPaused } from './maintenance.ts';
import { toVideoStepDependencies } from './videos.ts';

const stepSchema = z.enum(['poll', 'store', 'charge', 'finish', 'release', 'notify']);
const taskSchema = z.object({ step: stepSchema, videoId: z.string().refine(isVideoId, 'must be the id of a video') });

type Step = (dependencies: VideoStepDependencies, videoId: string) => Promise<object>;

/** Wraps steps that return no result to the workflow. */
const silent =
  (step: (dependencies: VideoStepDependencies, videoId: string) => Promise<void>): Step =>
  async (dependencies, videoId) => {
    await step(dependencies, videoId);
    return {};
  };

const steps: Readonly<Record<z.infer<typeof stepSchema>, Step>> = {
  poll: pollVideo,
  store: silent(storeVideo),
  charge: silent(chargeVideo),
  finish: finishVideo,
  release: releaseVideo,
  notify: silent(notifyVideo),
};

/**
 * Keeps only the error code, because an execution stores the errors of its steps, and the message may quote the
 * provider about a prompt.
 */
const toHistory = ({ code }: GatewayError): Error => Object.assign(new Error(code), { name: 'GatewayError' });

/** Name by which the state machine recognizes a step that must be repeated until the workers continue. */
export const PAUSED_ERROR = 'MaintenancePaused';

const pausedError = (): Error =>
  Object.assign(new Error('the workers are paused for maintenance'), { name: PAUSED_ERROR });

/**
 * Handles calls of the workflow and of the rule for failed executions. Not an HTTP function. The caller repeats a step
 * that throws; an invalid step throws ZodError.
 * While workers are paused, each step throws `MaintenancePaused` without work.
 */
export const createVideoStepsHandler = (deps: VideoFunctionDependencies) => {
  const dependencies = toVideoStepDependencies(deps);
  return async (task: unknown): Promise<object> => {
    const { step, videoId } = taskSchema.parse(task);
    if (await isPaused(deps, 'videoSteps')) throw pausedError();
    try {
      return await steps[step](dependencies, videoId);
    } catch (error) {
      throw error instanceof GatewayError ? toHistory(error) : error;
    }
  };
};
