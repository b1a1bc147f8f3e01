import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toIdempotencyPorts, toProcessPorts } from './paid-call.ts';
import { toCreatePorts, toReadPorts } from './videos.ts';

export const createVideosHandler = (deps: FunctionDependencies, { http, paid } = toProcessPorts(deps)) => {
  const create = toCreatePorts(deps, paid);
  const reading = toReadPorts(deps);
  return createHandler(http, {
    createVideo: createCreateVideo({
      create,
      idempotency: toIdempotencyPorts(deps, create.ledger),
      checkWebhookUrl: webhookUrlProblem,
    }),
    listVideos: createListVideos(reading),
    getVideo: createGetVideo(reading),
    deleteVideo: createDeleteVideo(reading),
  });
};
