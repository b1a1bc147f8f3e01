import { AddressLimit, bucketOf } from '../../core/limits/rate-limit.ts';
import { createHandler } from '../../http/handler.ts';
import {
  createCreateVideo,
  createDeleteVideo,
  createGetVideo,
  createListVideos,
} from '../../protocols/videos/handlers.ts';
import {
  createGetWebhookSecret,
  createRotateWebhookSecret,
  createTestWebhook,
} from '../../protocols/webhooks/handlers.ts';
import { webhookUrlProblem } from '../../providers/webhook.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toIdempotencyDependencies, toProcessDependencies } from './paid-call.ts';
import { toCreateDependencies, toReadDependencies } from './videos.ts';

/** Webhook tests of one account: one in ten seconds, and up to five in a row (HOOK-3). */
const testBucket = bucketOf(0.1, 5);

/** Also serves the routes of webhooks, because this function can reach the URLs of clients. */
export const createVideosHandler = (deps: FunctionDependencies, { http, paid } = toProcessDependencies(deps)) => {
  const create = toCreateDependencies(deps, paid);
  const reading = toReadDependencies(deps);
  const { checkWebhookUrl = webhookUrlProblem } = deps;
  return createHandler(http, {
    createVideo: createCreateVideo({
      create,
      idempotency: toIdempotencyDependencies(deps, create.ledger),
      checkWebhookUrl,
    }),
    listVideos: createListVideos(reading),
    getVideo: createGetVideo(reading),
    deleteVideo: createDeleteVideo(reading),
    getWebhookSecret: createGetWebhookSecret(deps),
    rotateWebhookSecret: createRotateWebhookSecret(deps),
    testWebhook: createTestWebhook({
      ...deps,
      checkWebhookUrl,
      testLimit: new AddressLimit(testBucket, deps.addressCounters, deps.clock),
    }),
  });
};
