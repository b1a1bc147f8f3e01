import { type ResumeReport, resumeVideos } from '../../core/videos/resume-videos.ts';
import type { Reporting, VideoFunctionDependencies } from './dependencies.ts';
import { toVideoStepDependencies } from './videos.ts';

/** Later than any time that a video is to be looked at. Databases know no infinite numbers. */
const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;

/** Runs every minute. Not an HTTP function. Throws the error of its report after the report was logged. */
export const createVideoSweepHandler = (deps: VideoFunctionDependencies) => {
  const resume = createResume(deps);
  return async (): Promise<void> => void (await resume());
};

/** For a machine that was switched off with all its executions: looks after every video that has not ended. */
export const createResumeAll = (deps: VideoFunctionDependencies) => {
  const resume = createResume(deps);
  return (): Promise<ResumeReport> => resume(END_OF_TIME_MS);
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
