import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import { toHttpPorts } from './http-ports.ts';
import { toIdempotencyPorts } from './paid-call-ports.ts';
import type { Parts } from './parts.ts';
import { toCreatePorts, toReadPorts } from './video-ports.ts';

export const createVideosHandler = (parts: Parts, http = toHttpPorts(parts)) => {
  const create = toCreatePorts(parts);
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
