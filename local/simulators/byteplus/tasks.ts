import * as z from 'zod';
import { hasBearer } from '../openai/headers.ts';
import { modelOf, textOfParts } from '../openai/loose-body.ts';
import type { Scenario } from '../scenario.ts';
import { byteplusTaskPrefix } from '../video-file.ts';
import { newVideo, readVideoId, type SimulatedVideo, stageOf, toVideoId } from '../video-job.ts';
import { type Answer, jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { arkError, arkRefusal, internalMessage, taskNotFound, withRequestId } from './error.ts';
import { addressOfFile } from './files.ts';
import { framesPerSecond, resolutionAndRatioOf, tokensOf } from './models.ts';
import { parseTaskRequest } from './request.ts';

const shared = {
  isAuthorized: hasBearer,
  errorFrame: () => '',
  headers: (requestId) => ({ 'x-request-id': requestId }),
} satisfies Partial<Wire>;

/** `POST /api/v3/contents/generations/tasks`. */
export const byteplusCreateTask: Wire = {
  ...shared,
  method: 'POST',
  path: /^\/api\/v3\/contents\/generations\/tasks$/,
  lastUserText: (body) => textOfParts(contentSchema.safeParse(body).data?.content),
  answer: create,
  refuse: (refusal, { body }) => arkRefusal(refusal, modelOf(body)),
};

/** `GET /api/v3/contents/generations/tasks/{id}`. */
export const byteplusTask: Wire = {
  ...shared,
  method: 'GET',
  path: /^\/api\/v3\/contents\/generations\/tasks\/[^/]+$/,
  lastUserText: () => '',
  answer: retrieve,
  refuse: (refusal) => arkRefusal(refusal, ''),
};

const contentSchema = z.looseObject({ content: z.unknown() });

function create({ body }: WireRequest, scenario: Scenario): Answer {
  const request = parseTaskRequest(body);
  if (scenario.contentFilterAfter !== undefined) {
    const message = 'The request failed because the input text may contain sensitive information.';
    throw arkError(400, 'InputTextSensitiveContentDetected', message);
  }
  return jsonAnswer({ id: toVideoId(byteplusTaskPrefix, newVideo(request, scenario)) });
}

function retrieve(request: WireRequest): Answer {
  const id = request.path.split('/').at(-1) ?? '';
  const job = readVideoId(byteplusTaskPrefix, id);
  if (job === undefined) throw taskNotFound(id);
  const stage = stageOf(job, Date.now());
  const common = { ...toCommon(id, job), error: null };
  switch (stage.kind) {
    case 'ailing':
      throw arkRefusal({ kind: 'status', status: 500 }, job.model);
    case 'lost':
      throw taskNotFound(id);
    case 'queued':
    case 'running':
      return jsonAnswer({ ...common, status: stage.kind, updated_at: common.created_at });
    case 'unknown':
      return jsonAnswer({ ...common, status: 'reviewing', updated_at: common.created_at });
    case 'failed':
    case 'blocked':
      return jsonAnswer({
        ...common,
        status: 'failed',
        error: failures[stage.kind](),
        updated_at: toSeconds(stage.atMs),
      });
    case 'made':
      return jsonAnswer({
        ...common,
        status: 'succeeded',
        ...toResult(job, addressOfFile(request, id)),
        updated_at: toSeconds(stage.atMs),
      });
  }
}

/**
 * Errors of failed tasks. The first code is the provider's generic error, the second is from
 * https://github.com/vm0-ai/vm0/issues/30959
 */
const failures = {
  failed: () => ({ code: 'InternalServiceError', message: withRequestId(internalMessage) }),
  blocked: () => ({
    code: 'OutputVideoSensitiveContentDetected',
    message: withRequestId('The request failed because the output video may contain sensitive information.'),
  }),
};

function toCommon(id: string, { model, createdAtMs, silent }: SimulatedVideo) {
  return {
    id,
    model,
    created_at: toSeconds(createdAtMs),
    service_tier: 'default',
    execution_expires_after: 172_800,
    generate_audio: silent !== true,
    draft: false,
  };
}

function toResult({ size, seconds, seed, nonce, noUsage, tokens }: SimulatedVideo, address: string) {
  const count = tokens ?? tokensOf(size, seconds);
  return {
    content: { video_url: address },
    ...(noUsage ? {} : { usage: { completion_tokens: count, total_tokens: count } }),
    seed: seed ?? nonce % 100_000,
    ...resolutionAndRatioOf(size),
    duration: seconds,
    framespersecond: framesPerSecond,
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
