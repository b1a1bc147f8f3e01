import { StoreError } from '../errors/store-error.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import { apply } from '../ledger/resolve.ts';
import { untilDefinite } from '../retry.ts';
import type { VideoFailure, VideoJob } from './video-job.ts';
import type { VideoStepPorts, VideoTimes } from './video-ports.ts';

const lateFailure: VideoFailure = {
  code: 'internal_error',
  message: 'The video could not be charged in time, so it is withheld. Nothing was charged.',
};

/** What it takes to end a video, with nothing of vendors. */
export interface EndingPorts extends Pick<VideoStepPorts, 'jobs' | 'files' | 'ledger' | 'notice' | 'measured'> {
  readonly times: Pick<VideoTimes, 'limitMs'>;
}

/**
 * The last write of a video: its state, derived from what became of its hold, and from nothing else. So a video is `completed` exactly
 * when it was charged. Throws StoreError. Safe to repeat.
 */
export const endVideo = async (ports: EndingPorts, job: VideoJob, record: ChargeRecord): Promise<void> => {
  const { ledger, jobs, files, notice, measured } = ports;
  await apply(ledger, record, job.holdAmountPicos);
  if (record.outcome === 'settled') {
    const completed = { state: 'completed', completedAtMs: ledger.clock.now() } as const;
    if (job.state !== 'completed' && (await untilDefinite(ledger, () => jobs.end(job.id, completed)))) {
      notice('video_completed', job.id);
      const seconds = (completed.completedAtMs - job.createdAtMs) / 1_000;
      measured?.({ video_s: seconds, video_stored_bytes: job.file?.bytes ?? 0 });
    }
    return;
  }
  const failed = { state: 'failed', failure: job.failure ?? lateFailure } as const;
  if (job.state !== 'failed' && (await untilDefinite(ledger, () => jobs.end(job.id, failed)))) {
    notice('video_failed', job.id);
  }
  // Nobody is ever given it, and it is cleaned up in time anyway.
  if (job.file) await files.remove(job.file.name).catch(ignoreStore);
};

/** For what is tidied up in time anyway. */
export const ignoreStore = (error: unknown): void => {
  if (!(error instanceof StoreError)) throw error;
};
