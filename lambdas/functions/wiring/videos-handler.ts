import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import { toIdempotencyPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';
import { toProcessPorts } from './process-ports.ts';
import { toCreatePorts, toReadPorts } from './video-ports.ts';

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
