import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { VideoModel } from '../catalog/schema.ts';
import type { CircuitId } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { StoredResponse } from '../idempotency/claim-store.ts';
import { type ClaimedRequest, ClaimLost } from '../idempotency/claimed-execution.ts';
import type { PlacedHold } from '../ledger/hold.ts';
import type { VideoMeasure } from '../metrics.ts';
import type { Caller, PaidCallDependencies } from '../paid-call/dependencies.ts';
import { type DryRun, refuseAboveBudget } from '../paid-call/preflight.ts';
import { chooseModel, chooseUpstream, type Route, rejectionError, unavailable } from '../paid-call/route-model.ts';
import { beforeCall, withReservation } from '../paid-call/with-paid-call.ts';
import { limited, retryUntilDefinite, within } from '../retry.ts';
import type { VideoWorkflow } from './dependencies.ts';
import { firstLookAt } from './resume-videos.ts';
import {
  type CreatedJob,
  isSameCreation,
  type VideoFailure,
  type VideoJob,
  type VideoJobStore,
  type VideoParamsRecord,
  type VideoTimes,
  videoIdOf,
  type Webhook,
} from './video-job.ts';
import { priceVideo, type VideoMoney } from './video-price.ts';
import type { VideoAsk, VideoWire } from './video-wire.ts';

export interface CreateDependencies extends PaidCallDependencies {
  readonly wires: ReadonlyMap<Wire, VideoWire>;
  readonly jobs: VideoJobStore;
  readonly machine: VideoWorkflow;
  readonly times: VideoTimes;
  /** Undefined if no meter is used. */
  readonly measured?: (values: Readonly<Partial<Record<VideoMeasure, number>>>) => void;
}

/** Parameters of the client before the model is looked up. */
export interface VideoParams {
  readonly modelId: string;
  readonly webhook: Webhook | undefined;
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: VideoModel): VideoAsk;
}

/** Options of a request for a video. */
export interface VideoOptions {
  /** Whether the client requests only the cost (BILL-16). */
  readonly dryRun: boolean;
  /** Claim of a request with an idempotency key. */
  readonly idempotent?:
    | { readonly claimed: ClaimedRequest; readonly toStored: (job: VideoJob) => StoredResponse }
    | undefined;
}

type CreatedVideo = DryRun | { readonly kind: 'video'; readonly job: VideoJob };

/** A request that is checked and priced and can start. */
interface ReadyVideo {
  readonly model: VideoModel;
  readonly route: Route<VideoWire>;
  readonly circuit: CircuitId;
  readonly ask: VideoAsk;
  readonly money: VideoMoney;
}

/**
 * Validates, then writes in this order: hold, job record, execution, provider call, upstream id (BILL-1). If the
 * process dies in between, the execution ends the video and releases its hold. The job record commits the creation.
 */
export const createVideo = async (
  deps: CreateDependencies,
  caller: Caller,
  order: VideoParams,
  options: VideoOptions,
): Promise<CreatedVideo> => {
  const ready = makeReady(deps, caller, order);
  const { model, circuit, money } = ready;
  const rejection = deps.circuits.peek(circuit, caller.accountId);
  if (rejection) throw rejectionError(model, rejection);
  refuseAboveBudget(money.holdPicos, 'seconds', 'request fewer seconds or a smaller size');
  if (options.dryRun) {
    const prices = { [money.terms.unit === 'token' ? 'output' : 'second']: money.terms.ratePicos };
    return { kind: 'dry_run', model, holdPicos: money.holdPicos, outputTokensMax: undefined, prices };
  }
  return { kind: 'video', job: await beginVideo(deps, caller, ready, order, options) };
};

const makeReady = (deps: CreateDependencies, { models: allowed }: Caller, order: VideoParams): ReadyVideo => {
  const nowMs = deps.ledger.clock.now();
  const catalog: Catalog = deps.catalog;
  const model = chooseModel(catalog, { modelId: order.modelId, protocol: 'videos', kind: 'video', nowMs, allowed });
  const ask = order.validateFor(model);
  const route = chooseUpstream(deps, model);
  route.wire.check?.(ask);
  if (!deps.reachable(route.provider)) throw unavailable(model);
  const circuit = { providerId: route.provider.id, modelId: model.id };
  return { model, route, circuit, ask, money: priceVideo(catalog.priceRow(model, nowMs), model, ask) };
};

const toRecord = (
  { keyId, endpoint }: Caller,
  { accountId, requestId, holdId, amountPicos, cap }: PlacedHold,
  { model, route, ask, money }: ReadyVideo,
  webhook: Webhook | undefined,
  createdAtMs: number,
): VideoParamsRecord => {
  const { prompt, seconds, width, height } = ask;
  return {
    id: videoIdOf(requestId),
    accountId,
    requestId,
    holdId,
    holdAmountPicos: amountPicos,
    modelId: model.id,
    providerId: route.provider.id,
    wire: route.upstream.wire,
    upstreamModel: route.upstream.model,
    prompt,
    seconds,
    width,
    height,
    createdAtMs,
    terms: money.terms,
    ...(webhook && { webhook }),
    ...(keyId !== undefined && { keyId }),
    ...(endpoint !== undefined && { endpoint }),
    ...(cap && { cap }),
  };
};

interface Beginning {
  readonly placedHold: PlacedHold;
  readonly ready: ReadyVideo;
  readonly record: VideoParamsRecord;
  readonly idempotent: VideoOptions['idempotent'];
  readonly storeTime: Caller['storeTime'];
}

/** Creates the video under a hold. A creation that fails is withdrawn and never charged. */
const beginVideo = async (
  deps: CreateDependencies,
  caller: Caller,
  ready: ReadyVideo,
  { webhook }: VideoParams,
  { idempotent }: VideoOptions,
): Promise<VideoJob> => {
  const now = deps.ledger.clock.now();
  const { model, circuit, money } = ready;
  const hold = {
    amountPicos: money.holdPicos,
    expiresAtMs: now + deps.times.holdMs,
    remedy: 'Top up, or request fewer seconds or a smaller size.',
  };
  let mayStand = false;
  const order = {
    first: { model, circuit, hold },
    claimed: idempotent?.claimed,
    withdraw: async (error: unknown) => (mayStand ? withdraw(deps, caller, idempotent, error) : error),
  };
  return withReservation(deps, caller, order, async ({ placedHold, permit, callReport }) => {
    const record = toRecord(caller, placedHold, ready, webhook, now);
    const beginning = { placedHold, ready, record, idempotent, storeTime: caller.storeTime };
    await beforeCall(permit, async () => {
      await idempotent?.claimed.dispatch(placedHold.holdId);
      // The record may exist if its write had no definite result. It too must be withdrawn before the key is free.
      mayStand = true;
      await commitCreation(deps, beginning);
      await startMachine(deps, beginning);
    });
    callReport.mark('calledAtMs');
    const created = await callVendor(deps, beginning);
    callReport.mark('endedAtMs');
    deps.measured?.({ videos_begun: 1 });
    const job = toJob(record, created);
    await Promise.all([noteUpstream(deps, beginning, created), permit.report('succeeded')]);
    await storeAnswer(beginning, job);
    return job;
  });
};

const commitCreation = async (deps: CreateDependencies, { record, storeTime }: Beginning): Promise<void> => {
  const dueAtMs = firstLookAt(record.createdAtMs, deps.times.createMs);
  const reply = await inStoreTime(deps, storeTime, () => deps.jobs.create(record, dueAtMs));
  // After a lost reply, the write finds its own record.
  if (reply.kind === 'created' || (reply.kind === 'exists' && isSameCreation(reply.job, record))) return;
  throw new ClaimLost();
};

const startMachine = async (deps: CreateDependencies, { record, idempotent, storeTime }: Beginning): Promise<void> => {
  const started = await inStoreTime(deps, storeTime, () => deps.machine.start(record.id));
  // An earlier execution has ended and released the video.
  if (started === 'ended') throw given(idempotent) ?? lateError(deps.times.createMs);
};

/**
 * Makes a call before the provider call, within the time of the request. Its retries end with that time. Maps a store
 * failure to 503.
 */
const inStoreTime = async <T>(
  { ledger }: CreateDependencies,
  storeTime: Caller['storeTime'],
  call: () => Promise<T>,
): Promise<T> => {
  try {
    return await within(storeTime, () => retryUntilDefinite(ledger, call, storeTime?.leftMs));
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new GatewayError(
      'service_unavailable',
      'The video cannot be started now. Nothing was charged. Retry the request.',
      {
        cause,
      },
    );
  }
};

const lateError = (ms: number): GatewayError =>
  new GatewayError(
    'upstream_timeout',
    `The provider did not accept the video within ${Math.round(ms / 1_000)} s. Nothing was charged. Retry the request.`,
  );

/**
 * Calls the provider within `createMs` after the creation. After that time, which all processes measure from the
 * creation, the workflow or a takeover may release the video.
 */
const callVendor = async (deps: CreateDependencies, { ready, record }: Beginning): Promise<CreatedJob> => {
  const { route, ask } = ready;
  const { createMs } = deps.times;
  const { clock } = deps.ledger;
  const leftMs = record.createdAtMs + createMs - clock.now();
  if (leftMs <= 0) throw lateError(createMs);
  const late = new AbortController();
  const cancel = clock.after(leftMs, () => late.abort(lateError(createMs)));
  try {
    const { provider, upstream, wire } = route;
    return await wire.create({ ...ask, provider, upstreamModel: upstream.model, signal: late.signal });
  } finally {
    cancel();
  }
};

/**
 * Stores the upstream id and the credential. Throws if the workflow or a takeover has released the video. Does not throw if the result is
 * unknown: the provider has the video, and its state will show whether the id was stored.
 */
const noteUpstream = async (
  deps: CreateDependencies,
  { record, idempotent }: Beginning,
  { upstreamId, credentialId }: CreatedJob,
): Promise<void> => {
  try {
    if (await retryUntilDefinite(deps.ledger, () => deps.jobs.setUpstream(record.id, upstreamId, credentialId))) return;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return;
  }
  throw given(idempotent) ?? lateError(deps.times.createMs);
};

/**
 * Leaves the claim to its lease and returns ClaimLost, because another request with the same idempotency key may have
 * returned this video already. Returns undefined without an idempotency key.
 */
const given = (idempotent: Beginning['idempotent']): ClaimLost | undefined => {
  if (!idempotent) return undefined;
  idempotent.claimed.abandon();
  return new ClaimLost();
};

/** Longest time that the error of a failed creation waits for its withdrawal, in ms. */
const WITHDRAW_LIMIT_MS = 3_000;

/** Withdraws the video, so that no list shows it. Returns the error for the client. */
const withdraw = async (
  deps: CreateDependencies,
  { requestId }: Caller,
  idempotent: VideoOptions['idempotent'],
  error: unknown,
): Promise<unknown> => {
  if (error instanceof ClaimLost) return error;
  try {
    const withdrawing = withdrawJob(deps, videoIdOf(requestId), toFailure(error));
    if (await limited(deps.ledger.clock, WITHDRAW_LIMIT_MS, withdrawing)) return error;
  } catch (cause) {
    // Without an upstream id the workflow fails the video. Until then it exists, and its key must not start another.
    idempotent?.claimed.abandon();
    if (!(cause instanceof StoreError)) throw cause;
    return error;
  }
  return given(idempotent) ?? error;
};

/**
 * Refuses the video, or prevents a creation that has not landed yet. Returns false if the video has a provider id or
 * has ended.
 */
const withdrawJob = async (
  { jobs, ledger }: CreateDependencies,
  videoId: string,
  failure: VideoFailure,
): Promise<boolean> => {
  const refuse = () => retryUntilDefinite(ledger, () => jobs.refuse(videoId, failure));
  if (await refuse()) return true;
  const { kind } = await retryUntilDefinite(ledger, () => jobs.abandon(videoId));
  // The creation can land between the two calls.
  return kind === 'abandoned' || (kind === 'exists' && (await refuse()));
};

const toFailure = (error: unknown): VideoFailure =>
  error instanceof GatewayError
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'The gateway failed. Nothing was charged. Create the video again.' };

const toJob = (record: VideoParamsRecord, { upstreamId, credentialId }: CreatedJob): VideoJob => ({
  ...record,
  state: 'queued',
  progress: 0,
  refused: false,
  upstreamId,
  credentialId,
});

/** If this write fails, the response is rebuilt from the video itself. */
const storeAnswer = async ({ idempotent, placedHold }: Beginning, job: VideoJob): Promise<void> => {
  if (!idempotent) return;
  try {
    await idempotent.claimed.stageResponse(placedHold.holdId, idempotent.toStored(job));
    await idempotent.claimed.complete();
  } catch (error) {
    idempotent.claimed.abandon();
    if (!(error instanceof ClaimLost || error instanceof GatewayError)) throw error;
  }
};
