import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import type { Parts } from './dependencies.ts';
import { toIdempotencyPorts, toProcessPorts } from './paid-call.ts';
import { toCreatePorts, toReadPorts } from './videos.ts';

export const createVideosHandler = (parts: Parts, { http, paid } = toProcessPorts(parts)) => {
  const create = toCreatePorts(parts, paid);
  const reading = toReadPorts(parts);
  return createHandler(http, {
    createVideo: createCreateVideo({
      create,
      idempotency: toIdempotencyPorts(parts, create.ledger),
      checkWebhookUrl: webhookUrlProblem,
    }),
    listVideos: createListVideos(reading),
    getVideo: createGetVideo(reading),
    deleteVideo: createDeleteVideo(reading),
  });
};
