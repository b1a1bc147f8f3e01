import type { VideoJob } from '../../core/videos/video-job.ts';
import { toVideoObject } from './video-object.ts';

/**
 * What a client's address is told of an ended video (VID-7): the same bytes in every attempt, with an id that tells repetitions.
 * Its time is that of the completion; of a failure there is only that of the video.
 */
export const toWebhookBody = (job: VideoJob): string => {
  const data = toVideoObject(job);
  return JSON.stringify({
    id: `evt_${job.id}`,
    object: 'event',
    type: job.state === 'completed' ? 'video.completed' : 'video.failed',
    created_at: data.completed_at ?? data.created_at,
    data,
  });
};
