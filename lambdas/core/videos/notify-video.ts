import { untilDefinite } from '../retry.ts';
import { isEnded } from './video-job.ts';
import type { VideoStepPorts } from './video-ports.ts';

/** VID-7: one delivery of how a video ended. Throws what went wrong, so that the machine tries again; nothing else depends on it. */
export const notifyVideo = async (ports: VideoStepPorts, videoId: string): Promise<void> => {
  const { jobs, ledger, notice, deliver } = ports;
  const job = await untilDefinite(ledger, () => jobs.read(videoId));
  if (!job?.webhook || job.refused || !isEnded(job)) return;
  try {
    await deliver(job);
  } catch (error) {
    notice('video_webhook_failed', videoId);
    throw error;
  }
};
