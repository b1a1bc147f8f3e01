import { GatewayError } from '../errors/gateway-error.ts';
import { inProgress } from '../idempotency/claim.ts';
import type { Creations, ExistingResponse, StoredResponse } from '../idempotency/claim-store.ts';
import { retryUntilDefinite } from '../retry.ts';
import type { VideoStepDependencies, VideoWorkflow } from './dependencies.ts';
import { releaseVideo } from './finish-video.ts';
import { isEnded, mayStillBegin, neverBegun, type VideoJob, videoIdOf } from './video-job.ts';

export interface ExistingVideoDependencies extends VideoStepDependencies {
  readonly machine: VideoWorkflow;
}

/**
 * Creation of a video under an idempotency key. The job record commits the creation. A takeover returns that video, or
 * writes a tombstone that prevents it.
 */
export const videoCreations = (
  deps: ExistingVideoDependencies,
  toStored: (job: VideoJob) => StoredResponse,
): Creations => {
  const standing = (job: VideoJob | undefined): ExistingResponse | undefined =>
    job && !job.refused ? { holdId: job.holdId, answer: toStored(job) } : undefined;
  return {
    read: async (requestId) => {
      const job = await retryUntilDefinite(deps.ledger, () => deps.jobs.read(videoIdOf(requestId)));
      // Until the provider has accepted the video or it has ended, a withdrawal that is still on its way can refuse it.
      return job && (job.upstreamId !== undefined || isEnded(job)) ? standing(job) : undefined;
    },
    close: async (requestId) => {
      const reply = await retryUntilDefinite(deps.ledger, () => deps.jobs.abandon(videoIdOf(requestId)));
      if (reply.kind === 'abandoned') return undefined;
      if (reply.kind === 'removed')
        throw new GatewayError('idempotency_exhausted', removed, { param: 'idempotency-key', retry: 'none' });
      const { job } = reply;
      if (!job.refused && !isEnded(job) && job.upstreamId === undefined) await endUnbegun(deps, job);
      return standing(await retryUntilDefinite(deps.ledger, () => deps.jobs.read(job.id)));
    },
  };
};

const removed = 'idempotency-key: the video of this key was removed. Use a new key.';

/**
 * Ends a video that the provider has not accepted, so that its creating process cannot continue it. Throws 409 while
 * the creation may still be in progress.
 */
const endUnbegun = async (deps: ExistingVideoDependencies, job: VideoJob): Promise<void> => {
  const { ledger, times } = deps;
  if (mayStillBegin(job, times, ledger.clock.now())) throw inProgress();
  await retryUntilDefinite(ledger, () => deps.jobs.noteFailure(job.id, neverBegun));
  await releaseVideo(deps, job.id);
};
