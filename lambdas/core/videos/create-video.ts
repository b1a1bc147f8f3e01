import type { Catalog } from '../catalog/catalog.ts';
import type { Wire } from '../catalog/providers.ts';
import type { VideoModel } from '../catalog/schema.ts';
import type { StoredAnswer } from '../idempotency/claim-store.ts';
import type { Attempt } from '../idempotency/claimed-execution.ts';
import type { Reservation } from '../ledger/hold.ts';
import type { VideoMeasure } from '../measures.ts';
import type { Caller, PaidCallPorts } from '../paid-call/dependencies.ts';
import type { DryRun } from '../paid-call/preflight.ts';
import { refuseAboveBudget } from '../paid-call/preflight.ts';
import { barredError, chooseModel, chooseUpstream, type Route, unavailable } from '../paid-call/route-model.ts';
import { type Entered, holdAndEnter, refuseManyDrains } from '../paid-call/with-paid-call.ts';
import { beginVideo } from './begin-video.ts';
import type { VideoJobStore } from './job-store.ts';
import { type VideoJob, type VideoOrderRecord, videoIdOf, type Webhook } from './video-job.ts';
import type { VideoMachine } from './video-machine.ts';
import type { VideoTimes } from './video-ports.ts';
import { priceVideo, type VideoMoney } from './video-price.ts';
import type { VideoAsk, VideoWire } from './video-wire.ts';

export interface CreatePorts extends PaidCallPorts {
  readonly wires: ReadonlyMap<Wire, VideoWire>;
  readonly jobs: VideoJobStore;
  readonly machine: VideoMachine;
  readonly times: VideoTimes;
  /** Undefined where nobody counts. */
  readonly measured?: (values: Readonly<Partial<Record<VideoMeasure, number>>>) => void;
}

/** What a client asked for before a model was looked up. */
export interface VideoOrder {
  readonly modelId: string;
  readonly webhook: Webhook | undefined;
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  prepare(model: VideoModel): VideoAsk;
}

/** How one request is to be answered. */
export interface VideoManner {
  /** Only what it would cost is asked (BILL-16). */
  readonly dryRun: boolean;
  /** Under an Idempotency-Key. */
  readonly keyed?: { readonly attempt: Attempt; readonly toStored: (job: VideoJob) => StoredAnswer } | undefined;
}

export type CreatedVideo = DryRun | { readonly kind: 'video'; readonly job: VideoJob };

/** A request that has been checked and priced, and can be begun. */
export interface ReadyVideo {
  readonly model: VideoModel;
  readonly route: Route<VideoWire>;
  readonly ask: VideoAsk;
  readonly money: VideoMoney;
}

/**
 * Validate, hold, job record, execution, vendor, upstream id (BILL-1; in this order, so that whatever dies in between, the execution
 * ends the video and releases its hold). The job record is the commit: from there on the video's own state tells what became of it.
 */
export const createVideo = async (
  ports: CreatePorts,
  caller: Caller,
  order: VideoOrder,
  manner: VideoManner,
): Promise<CreatedVideo> => {
  const ready = makeReady(ports, order);
  const { model, route, money } = ready;
  const circuit = { providerId: route.provider.id, modelId: model.id };
  const barred = ports.circuits.look(circuit, caller.accountId);
  if (barred) throw barredError(model, barred);
  refuseAboveBudget(money.holdPicos, 'seconds', 'ask for fewer seconds or a smaller size');
  if (manner.dryRun) {
    refuseManyDrains(ports, caller.accountId);
    const prices = { [money.terms.unit === 'token' ? 'output' : 'second']: money.terms.ratePicos };
    return { kind: 'dry_run', model, holdPicos: money.holdPicos, outputTokensMax: undefined, prices };
  }
  const now = ports.ledger.clock.now();
  const hold = {
    amountPicos: money.holdPicos,
    expiresAtMs: now + ports.times.holdMs,
    remedy: 'Top up, or ask for fewer seconds or a smaller size.',
  };
  const entered = await holdAndEnter(ports, caller, { model, circuit, hold });
  const record = toRecord(entered, ready, order.webhook, now);
  return { kind: 'video', job: await beginVideo(ports, { ...entered, ready, record, keyed: manner.keyed }) };
};

const makeReady = (ports: CreatePorts, order: VideoOrder): ReadyVideo => {
  const nowMs = ports.ledger.clock.now();
  const catalog: Catalog = ports.catalog;
  const model = chooseModel(catalog, { modelId: order.modelId, protocol: 'videos', kind: 'video', nowMs });
  const ask = order.prepare(model);
  const route = chooseUpstream(ports, model);
  route.wire.check?.(ask);
  if (!ports.reachable(route.provider)) throw unavailable(model);
  return { model, route, ask, money: priceVideo(catalog.priceRow(model, nowMs), model, ask) };
};

const toRecord = (
  { reservation }: Pick<Entered<never>, 'reservation'>,
  { model, route, ask, money }: ReadyVideo,
  webhook: Webhook | undefined,
  createdAtMs: number,
): VideoOrderRecord => {
  const { accountId, requestId, holdId, amountPicos }: Reservation = reservation;
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
  };
};
