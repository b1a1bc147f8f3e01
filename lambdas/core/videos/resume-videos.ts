import { forEachConcurrent } from '../concurrency.ts';
import { StoreError } from '../errors/store-error.ts';
import type { VideoStepDependencies, VideoWorkflow } from './dependencies.ts';
import { releaseVideo } from './finish-video.ts';
import { isEnded } from './video-job.ts';

export interface ResumeDependencies extends VideoStepDependencies {
  readonly machine: VideoWorkflow;
}

export interface ResumeReport {
  readonly looked: number;
  /** Videos that were released because no running execution would end them. */
  readonly released: number;
  /** Videos left for the next run. */
  readonly failed: number;
  /**
   * Errors that need an operator: failures for another reason than the store. Reported after all others are processed.
   */
  readonly bug: AggregateError | undefined;
}

/**
 * Returns the time of the first check of a new video. Its creation is over by then, and its execution was started or
 * never will be.
 */
export const firstLookAt = (createdAtMs: number, createMs: number): number => createdAtMs + createMs + 60_000;

/** Longer than the last steps of an execution with all retries, and shorter than the lifetime of the hold. */
export const LAST_STEPS_MS = 55 * 60_000;

/**
 * Checks videos whose creation or execution may have died. Starts the execution of a video without one. Releases a
 * video whose execution has ended. So every video ends. Throws StoreError if the videos cannot be listed.
 */
export const resumeVideos = async (
  deps: ResumeDependencies,
  untilMs = deps.ledger.clock.now(),
): Promise<ResumeReport> => {
  const report = { looked: 0, released: 0, failed: 0 };
  const bugs: unknown[] = [];
  await forEachConcurrent(await deps.jobs.due(untilMs), async (videoId) => {
    report.looked += 1;
    try {
      if (await resume(deps, videoId)) report.released += 1;
    } catch (error) {
      report.failed += 1;
      if (!(error instanceof StoreError)) bugs.push(error);
    }
  });
  const message = `${bugs.length} videos could not be resumed`;
  return { ...report, bug: bugs.length === 0 ? undefined : new AggregateError(bugs, message) };
};

/** Returns whether the video was released. */
const resume = async (deps: ResumeDependencies, videoId: string): Promise<boolean> => {
  const { jobs, machine, ledger, times } = deps;
  const job = await jobs.read(videoId);
  if (!job || isEnded(job)) return false;
  const overdueAtMs = job.createdAtMs + times.limitMs + LAST_STEPS_MS;
  const isOverdue = ledger.clock.now() >= overdueAtMs;
  if (!isOverdue && (await machine.start(videoId)) === 'running') {
    await jobs.postpone(videoId, overdueAtMs);
    return false;
  }
  deps.notice('video_resumed', videoId);
  await releaseVideo(deps, videoId);
  return true;
};
