import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toIdempotencyDependencies, toProcessDependencies } from './paid-call.ts';
import { toCreateDependencies, toReadDependencies } from './videos.ts';

export const createVideosHandler = (deps: FunctionDependencies, { http, paid } = toProcessDependencies(deps)) => {
  const create = toCreateDependencies(deps, paid);
  const reading = toReadDependencies(deps);
  return createHandler(http, {
    createVideo: createCreateVideo({
      create,
      idempotency: toIdempotencyDependencies(deps, create.ledger),
      checkWebhookUrl: webhookUrlProblem,
    }),
    listVideos: createListVideos(reading),
    getVideo: createGetVideo(reading),
    deleteVideo: createDeleteVideo(reading),
  });
};
