import { resolveForeign } from '../ledger/release.ts';
import { untilDefinite } from '../retry.ts';
import { type EndingPorts, endVideo } from './end-video.ts';
import { isEnded, type VideoFailure } from './video-job.ts';

/** Whether somebody waits to be told. */
export interface VideoEnded {
  readonly webhook: boolean;
}

const timedOut: VideoFailure = {
  code: 'upstream_timeout',
  message: 'The video was not finished within the time it may take. Nothing was charged.',
};

const notStored: VideoFailure = {
  code: 'upstream_error',
  message: 'The finished video could not be stored. Nothing was charged.',
};

/**
 * Ends a video that will not be delivered: a vendor that failed, time that is over, a fault that did not go away, an execution that
 * died. A charge that stands already wins, and the video is then completed. Throws StoreError. Safe to repeat.
 */
export const releaseVideo = async (ports: EndingPorts, videoId: string): Promise<VideoEnded> => {
  const { jobs, ledger, notice } = ports;
  const read = () => untilDefinite(ledger, () => jobs.read(videoId));
  const found = await read();
  if (!found) return { webhook: false };
  const job = found;
  const isLate = ledger.clock.now() - job.createdAtMs >= ports.times.limitMs;
  const failure = job.failure ?? (isLate ? timedOut : notStored);
  if (!isEnded(job) && !job.failure) {
    if (isLate) notice('video_timed_out', videoId);
    await untilDefinite(ledger, () => jobs.noteFailure(videoId, failure));
  }
  const { accountId, holdId } = job;
  const record = await resolveForeign(ledger, { accountId, holdId, reason: failure.code });
  await endVideo(ports, (await read()) ?? job, record);
  return { webhook: job.webhook !== undefined && !job.refused };
};
