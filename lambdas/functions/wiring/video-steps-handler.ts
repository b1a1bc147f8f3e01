import * as z from 'zod';
import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { VideoStepDependencies } from '../../core/videos/dependencies.ts';
import { chargeVideo, finishVideo, notifyVideo, releaseVideo, storeVideo } from '../../core/videos/finish-video.ts';
import { pollVideo } from '../../core/videos/poll-video.ts';
import { isVideoId } from '../../core/videos/video-job.ts';
import type { VideoFunctionDependencies } from './dependencies.ts';
import { toVideoStepDependencies } from './videos.ts';

const stepSchema = z.enum(['poll', 'store', 'charge', 'finish', 'release', 'notify']);
const taskSchema = z.object({ step: stepSchema, videoId: z.string().refine(isVideoId, 'must be the id of a video') });

type Step = (dependencies: VideoStepDependencies, videoId: string) => Promise<object>;

/** What the machine chooses by nothing of. */
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

/** An execution keeps what its steps throw, and a message may hold the vendor's words about a prompt. */
const toHistory = ({ code }: GatewayError): Error => Object.assign(new Error(code), { name: 'GatewayError' });

/**
 * Called by the state machine, and by the rule on executions that failed. Not an HTTP function. What a step throws is the caller's
 * to repeat; what is no step throws a ZodError.
 */
export const createVideoStepsHandler = (deps: VideoFunctionDependencies) => {
  const dependencies = toVideoStepDependencies(deps);
  return async (task: unknown): Promise<object> => {
    const { step, videoId } = taskSchema.parse(task);
    try {
      return await steps[step](dependencies, videoId);
    } catch (error) {
      throw error instanceof GatewayError ? toHistory(error) : error;
    }
  };
};
