import { type ResumeReport, resumeVideos } from '../../core/videos/resume-videos.ts';
import type { Reporting, VideoFunctionDependencies } from './dependencies.ts';
import { isClockWrong, isPaused } from './maintenance.ts';
import { toVideoStepDependencies } from './videos.ts';

/** Time after every poll time. It is finite, because databases do not store infinite numbers. */
const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;

/**
 * Runs every minute, and does nothing while workers are paused or the clock is too far from the store's. Not an HTTP
 * function. Logs its report, then throws the bug that the report contains, if there is one.
 */
export const createVideoSweepHandler = (deps: VideoFunctionDependencies) => {
  const resume = createResume(deps);
  return async (): Promise<void> => {
    if (await isPaused(deps, 'videoSweep')) return;
    if (!(await isClockWrong(deps, 'videoSweep'))) await resume();
  };
};

/**
 * Resumes every unfinished video after a machine was switched off with all its executions. Returns undefined while
 * workers are paused.
 */
export const createResumeAll = (deps: VideoFunctionDependencies) => {
  const resume = createResume(deps);
  return async (): Promise<ResumeReport | undefined> =>
    (await isPaused(deps, 'videoSweep')) ? undefined : resume(END_OF_TIME_MS);
};

const createResume = (deps: VideoFunctionDependencies) => {
  const dependencies = { ...toVideoStepDependencies(deps), machine: deps.videoMachine };
  return async (untilMs?: number): Promise<ResumeReport> => {
    const report = await resumeVideos(dependencies, untilMs);
    emitReport(deps.reporting, report);
    if (report.bug) throw report.bug;
    return report;
  };
};

const emitReport = ({ notice, measured }: Reporting, { looked, released, failed }: ResumeReport): void => {
  measured({ video_sweep_failed: failed });
  if (released + failed === 0) return;
  notice('videos_swept', { looked: String(looked), released: String(released), failed: String(failed) });
};
