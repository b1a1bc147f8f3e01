import { expiresAtOf } from '../../core/videos/read-videos.ts';
import type { VideoJob } from '../../core/videos/video-job.ts';
import { isDelivered } from '../../core/webhook-delivery.ts';
import { type GatewayResponse, json } from '../../http/exchange.ts';

const MS_PER_SECOND = 1_000;

const toUnixSeconds = (ms: number | undefined): number | null =>
  ms === undefined ? null : Math.floor(ms / MS_PER_SECOND);

/** The provider's shape, for its SDKs: https://platform.openai.com/docs/api-reference/videos/object */
export const toVideoObject = (job: VideoJob) => {
  const { state, failure } = job;
  return {
    id: job.id,
    object: 'video',
    model: job.modelId,
    status: state,
    progress: state === 'completed' ? 100 : job.progress,
    created_at: toUnixSeconds(job.createdAtMs),
    completed_at: toUnixSeconds(job.completedAtMs),
    expires_at: toUnixSeconds(expiresAtOf(job)),
    size: `${job.width}x${job.height}`,
    seconds: String(job.seconds),
    prompt: job.prompt,
    // The failure can be stored before the state changes.
    error: state === 'failed' && failure ? { code: failure.code, message: failure.message } : null,
    remixed_from_video_id: null,
  };
};

/** Id of the event about the end of a video (HOOK-1). */
export const webhookIdOf = ({ id }: VideoJob): string => `evt_${id}`;

const toDeliveryStatus = ({ delivery }: VideoJob): 'pending' | 'delivered' | 'failed' => {
  if (!delivery) return 'pending';
  if (isDelivered(delivery)) return 'delivered';
  return delivery.nextAtMs === undefined ? 'failed' : 'pending';
};

/** Video as its owner reads it: with the deliveries of its webhook, if it has one (VID-7). */
export const toShownVideo = (job: VideoJob) => {
  const { webhook, delivery } = job;
  if (!webhook) return toVideoObject(job);
  return {
    ...toVideoObject(job),
    webhook: {
      id: webhookIdOf(job),
      status: toDeliveryStatus(job),
      attempts: delivery?.attempts ?? 0,
      last_attempt_at: toUnixSeconds(delivery?.lastAtMs),
      last_status: delivery?.status ?? null,
      last_error: delivery?.problem ?? null,
      next_attempt_at: toUnixSeconds(delivery?.nextAtMs),
    },
  };
};

/**
 * Response to the creation, independent of the video's later state, so that a replay under the same idempotency key has
 * identical bytes (IDEM-2).
 */
export const toCreationAnswer = (job: VideoJob): GatewayResponse =>
  json(200, toVideoObject({ ...job, state: 'queued', progress: 0, completedAtMs: undefined }));

/**
 * Webhook body of an ended video (VID-7): identical bytes in every attempt, with an id that identifies repeats.
 * `created_at` is the time of the completion. A failed video has only the time of its creation.
 */
export const toWebhookBody = (job: VideoJob): string => {
  const data = toVideoObject(job);
  return JSON.stringify({
    id: webhookIdOf(job),
    object: 'event',
    type: job.state === 'completed' ? 'video.completed' : 'video.failed',
    created_at: data.completed_at ?? data.created_at,
    data,
  });
};
