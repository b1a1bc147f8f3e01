import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { IdempotencyDependencies } from '../../core/idempotency/claim-store.ts';
import type { ClaimedRequest } from '../../core/idempotency/claimed-execution.ts';
import type { Caller } from '../../core/paid-call/dependencies.ts';
import { type CreateDependencies, createVideo, type VideoParams } from '../../core/videos/create-video.ts';
import { type ExistingVideoDependencies, videoCreations } from '../../core/videos/existing-video.ts';
import {
  listVideos,
  locateVideo,
  type ReadDependencies,
  readVideo,
  removeVideo,
} from '../../core/videos/read-videos.ts';
import { planAnswer } from '../../http/early-answer.ts';
import { admissionOf, type Exchange, type GatewayResponse, json, type RouteHandler } from '../../http/exchange.ts';
import { idempotentAnswer, toStored } from '../idempotent-answer.ts';
import { callerOf, readPaidHeaders } from '../paid-request.ts';
import { dryRunAnswer } from '../paid-response.ts';
import { type CheckWebhookUrl, toVideoParams } from './request.ts';
import { toCreationAnswer, toShownVideo } from './video-object.ts';

type Query = Readonly<Record<string, string | undefined>>;

export interface ListQuery {
  readonly limit: number;
  readonly newestFirst: boolean;
  readonly afterId: string | undefined;
}

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/**
 * Reads the query of the list (VID-8). Throws the 400 that names the parameter. An empty parameter counts as absent,
 * and others are ignored.
 */
export const readListQuery = (query: Query): ListQuery => ({
  limit: readLimit(query),
  newestFirst: readOrder(query) === 'desc',
  afterId: query.after || undefined,
});

const readLimit = ({ limit }: Query): number => {
  if (!limit) return LIMIT_DEFAULT;
  const count = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (count >= 1 && count <= LIMIT_MAX) return count;
  throw invalidRequest('limit', `limit: must be a whole number from 1 to ${LIMIT_MAX}.`);
};

const readOrder = ({ order }: Query): 'asc' | 'desc' => {
  if (!order || order === 'desc') return 'desc';
  if (order === 'asc') return 'asc';
  throw invalidRequest('order', 'order: must be one of asc, desc.');
};

export interface CreateVideoDependencies {
  readonly create: CreateDependencies & ExistingVideoDependencies;
  readonly idempotency: IdempotencyDependencies;
  readonly checkWebhookUrl: CheckWebhookUrl;
}

/** POST /v1/videos (VID-1, VID-2). Only JSON requests support idempotency keys (IDEM-5). */
export const createCreateVideo =
  (deps: CreateVideoDependencies): RouteHandler =>
  async (exchange) => {
    const { form, body, event } = exchange;
    const { dryRun, idempotencyKey: key } = readPaidHeaders(
      event.headers,
      { takesKeys: form === undefined, takesFallback: false },
      false,
    );
    const caller = callerOf(exchange, planAnswer(exchange, { kind: 'json' }));
    if (key === undefined || !body) return answer(deps, exchange, caller, dryRun);
    const creations = videoCreations(deps.create, (job) => toStored(toCreationAnswer(job)));
    const order = { key, body: body.json, creations };
    return idempotentAnswer(deps.idempotency, exchange, order, (claimed) =>
      answer(deps, exchange, caller, dryRun, claimed),
    );
  };

const answer = async (
  { create, checkWebhookUrl }: CreateVideoDependencies,
  exchange: Exchange,
  caller: Caller,
  dryRun: boolean,
  claimed?: ClaimedRequest,
): Promise<GatewayResponse> => {
  const { startedAtMs, summary } = exchange;
  const parsed = toVideoParams(exchange, checkWebhookUrl);
  // Logs only model ids of the catalog, never the client's text.
  const order: VideoParams = {
    ...parsed,
    validateFor: (model) => {
      summary.model = model.id;
      return parsed.validateFor(model);
    },
  };
  const created = await createVideo(create, caller, order, {
    dryRun,
    idempotent: claimed && { claimed, toStored: (job) => toStored(toCreationAnswer(job)) },
  });
  if (created.kind === 'dry_run') return dryRunAnswer(exchange, created);
  summary.firstByteMs = create.ledger.clock.now() - startedAtMs;
  return toCreationAnswer(created.job);
};

/** GET /v1/videos/{id} (VID-3). */
export const createGetVideo =
  (deps: ReadDependencies): RouteHandler =>
  async (exchange) =>
    json(200, toShownVideo(await readVideo(deps, admissionOf(exchange).accountId, idIn(exchange))));

/** GET /v1/videos (VID-8): videos of the account, newest first by default. */
export const createListVideos =
  (deps: ReadDependencies): RouteHandler =>
  async (exchange) => {
    const { accountId } = admissionOf(exchange);
    const { limit, newestFirst, afterId } = readListQuery(exchange.event.queryStringParameters ?? {});
    const after = afterId === undefined ? undefined : await readCursor(deps, accountId, afterId);
    const { jobs, more } = await listVideos(deps, accountId, { limit, newestFirst, after });
    return json(200, {
      object: 'list',
      data: jobs.map(toShownVideo),
      first_id: jobs[0]?.id ?? null,
      last_id: jobs.at(-1)?.id ?? null,
      has_more: more,
    });
  };

/** Position of a video in the list. A page can also follow a video that has been deleted. */
const readCursor = async (deps: ReadDependencies, accountId: string, afterId: string) => {
  const position = await locateVideo(deps, accountId, afterId);
  if (position) return position;
  throw invalidRequest('after', 'after: must be the id of one of your videos, for example the last_id of a page.');
};

/** DELETE /v1/videos/{id} (VID-8). */
export const createDeleteVideo =
  (deps: ReadDependencies): RouteHandler =>
  async (exchange) => {
    const id = idIn(exchange);
    await removeVideo(deps, admissionOf(exchange).accountId, id);
    return json(200, { id, object: 'video.deleted', deleted: true });
  };

const idIn = ({ route }: Exchange): string => route?.params.id ?? '';
