import { commit } from '../ledger/resolve.ts';
import { untilDefinite } from '../retry.ts';
import { endVideo } from './end-video.ts';
import type { VideoEnded } from './release-video.ts';
import { isEnded, type VideoJob } from './video-job.ts';
import type { VideoStepPorts } from './video-ports.ts';
import { chargeForVideo } from './video-price.ts';

const readJob = ({ jobs, ledger }: VideoStepPorts, videoId: string): Promise<VideoJob | undefined> =>
  untilDefinite(ledger, () => jobs.read(videoId));

/**
 * VID-6: writes the charge record of a video whose file is stored. The first record of a hold counts: a video that had been released
 * is not charged by this. Throws StoreError. Safe to repeat.
 */
export const chargeVideo = async (ports: VideoStepPorts, videoId: string): Promise<void> => {
  const job = await readJob(ports, videoId);
  if (!job || isEnded(job)) return;
  if (!job.file) throw new Error(`${videoId} is to be charged and has no file`);
  const { accountId, holdId, requestId, modelId, holdAmountPicos, terms, tokens } = job;
  const { amountPicos, prices, usage, implausible } = chargeForVideo(job);
  const overage = amountPicos > holdAmountPicos;
  const record = await commit(ports.ledger, {
    accountId,
    holdId,
    requestId,
    outcome: 'settled',
    amountPicos,
    at: ports.ledger.clock.now(),
    model: modelId,
    usage,
    prices,
    ...(overage ? { overage } : {}),
    ...(implausible ? { implausible } : {}),
  });
  if (record.outcome !== 'settled') return tellLate(ports, videoId, amountPicos);
  if (implausible) ports.notice('video_usage_implausible', videoId);
  if (overage) ports.notice('video_overage', videoId);
  if (terms.unit !== 'token' || tokens !== undefined || terms.ratePicos === 0n) return;
  ports.notice('video_usage_missing', videoId);
  await ports.usageMissing(modelId);
};

const tellLate = ({ ledger, notice }: VideoStepPorts, videoId: string, amountPicos: bigint): void => {
  ledger.meter?.({ uncollected: amountPicos });
  notice('video_late_settlement', videoId);
};

/** The state, from the record. Throws an Error when there is no record yet: that step comes first. */
export const finishVideo = async (ports: VideoStepPorts, videoId: string): Promise<VideoEnded> => {
  const job = await readJob(ports, videoId);
  if (!job) return { webhook: false };
  const { store } = ports.ledger;
  const record = await untilDefinite(ports.ledger, () => store.readRecord(job.accountId, job.holdId));
  if (!record) throw new Error(`${videoId} is to be ended and its hold has no record`);
  await endVideo(ports, job, record);
  return { webhook: job.webhook !== undefined && !job.refused };
};
