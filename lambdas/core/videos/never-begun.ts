import type { VideoFailure, VideoJob } from './video-job.ts';
import type { VideoTimes } from './video-ports.ts';

/** What clocks of two processes may differ by. */
const SKEW_MS = 5_000;

/** Its creation may still be under way. Everybody counts from the creation, so that nobody gives up what another may yet begin. */
export const mayStillBegin = ({ createdAtMs }: VideoJob, { createMs }: VideoTimes, nowMs: number): boolean =>
  nowMs < createdAtMs + createMs + SKEW_MS;

export const neverBegun: VideoFailure = {
  code: 'upstream_error',
  message: 'The video was never begun. Nothing was charged. Ask for it again.',
};
