import type { Scenario } from '../scenario.ts';
import { videoAnswer } from '../video-answer.ts';
import { openaiVideoPrefix } from '../video-file.ts';
import { newVideo, readVideoId, type SimulatedVideo, stageOf, toVideoId, type VideoStage } from '../video-job.ts';
import { type Answer, jsonAnswer, type Wire, type WireRequest } from '../wire.ts';
import { openaiError, openaiRefusal, serverErrorMessage } from './error.ts';
import { hasBearer, openaiHeaders } from './headers.ts';
import { modelOf } from './loose-body.ts';
import { bodyOf, parseVideoRequest, promptOf } from './videos-request.ts';

const shared = { isAuthorized: hasBearer, errorFrame: () => '', headers: openaiHeaders } satisfies Partial<Wire>;

/** `POST /v1/videos` in the form before 2026-09-24, which other services still use. */
export const openaiCreateVideo: Wire = {
  ...shared,
  method: 'POST',
  path: /^\/v1\/videos$/,
  lastUserText: (_, request) => promptOf(bodyOf(request)),
  answer: create,
  refuse: (refusal, request) => openaiRefusal(refusal, modelOf(bodyOf(request))),
};

/** `GET /v1/videos/{id}`. */
export const openaiVideo: Wire = {
  ...shared,
  method: 'GET',
  path: /^\/v1\/videos\/[^/]+$/,
  lastUserText: () => '',
  answer({ path }) {
    const { id, job, stage } = find(path);
    return jsonAnswer(toVideo(id, job, stage));
  },
  refuse: (refusal) => openaiRefusal(refusal, ''),
};

/** `GET /v1/videos/{id}/content`, with the same credential. */
export const openaiVideoContent: Wire = {
  ...shared,
  method: 'GET',
  path: /^\/v1\/videos\/[^/]+\/content$/,
  lastUserText: () => '',
  answer({ path }) {
    const { id, job, stage } = find(path);
    if (stage.kind !== 'made') {
      const message = 'Video is not ready yet, use GET /v1/videos/{video_id} to check status.';
      throw openaiError(404, message);
    }
    if (job.video?.file === 'missing') throw notFound(id);
    return videoAnswer(id, job);
  },
  refuse: (refusal) => openaiRefusal(refusal, ''),
};

const blocked = { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' };

/** Long prompts are cut, because an id must fit into a URL. */
const promptKeptMax = 200;

function create(request: WireRequest, scenario: Scenario): Answer {
  const { prompt, ...asked } = parseVideoRequest(request);
  if (scenario.contentFilterAfter !== undefined) throw openaiError(400, blocked.message, { code: blocked.code });
  const job = newVideo({ ...asked, ...(prompt.length <= promptKeptMax && { prompt }) }, scenario);
  return jsonAnswer(toVideo(toVideoId(openaiVideoPrefix, job), job, { kind: 'queued' }));
}

type Found = { readonly id: string; readonly job: SimulatedVideo; readonly stage: VideoStage };

function find(path: string): Found {
  const id = path.split('/')[3] ?? '';
  const job = readVideoId(openaiVideoPrefix, id);
  if (job === undefined) throw notFound(id);
  const stage = stageOf(job, Date.now());
  if (stage.kind === 'lost') throw notFound(id);
  if (stage.kind === 'ailing') throw openaiRefusal({ kind: 'status', status: 500 }, job.model);
  return { id, job, stage };
}

function notFound(id: string) {
  return openaiError(404, `Video with id '${id}' not found.`);
}

const statuses = {
  queued: 'queued',
  running: 'in_progress',
  unknown: 'reviewing',
  made: 'completed',
  failed: 'failed',
  blocked: 'failed',
  lost: 'failed',
  ailing: 'failed',
} as const;

const errors: Readonly<Partial<Record<VideoStage['kind'], object>>> = {
  failed: { code: 'server_error', message: serverErrorMessage },
  blocked,
};

const dayMs = 86_400_000;

/** All thirteen fields, null if they have no value. */
function toVideo(id: string, { model, size, seconds, prompt, createdAtMs }: SimulatedVideo, stage: VideoStage) {
  const madeAtMs = stage.kind === 'made' ? stage.atMs : undefined;
  return {
    id,
    object: 'video',
    created_at: toSeconds(createdAtMs),
    status: statuses[stage.kind],
    completed_at: madeAtMs === undefined ? null : toSeconds(madeAtMs),
    error: errors[stage.kind] ?? null,
    expires_at: madeAtMs === undefined ? null : toSeconds(madeAtMs + dayMs),
    model,
    progress: stage.kind === 'running' ? stage.progress : Number(stage.kind === 'made') * 100,
    prompt: prompt ?? null,
    remixed_from_video_id: null,
    seconds: String(seconds),
    size,
  };
}

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
