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
  /** Videos that no execution would have ended. */
  readonly released: number;
  /** Left for the next run. */
  readonly failed: number;
  /** For a person, once all others are done: what failed by no fault of a store. */
  readonly bug: AggregateError | undefined;
}

/** When a new video is looked at first: its creation is over by then, and its execution was started or never will be. */
export const firstLookAt = (createdAtMs: number, createMs: number): number => createdAtMs + createMs + 60_000;

/** Longer than the last steps of an execution take with all their repeats, and over before the hold is. */
export const LAST_STEPS_MS = 55 * 60_000;

/**
 * Looks after videos whose creation or execution died: one without an execution gets its execution, one that an execution has left
 * behind is released. Every video ends so, whatever dies. Throws StoreError when they cannot be listed.
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

/** Whether it had to be released. */
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
