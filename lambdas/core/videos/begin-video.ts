import type { Passage } from '../circuit/circuit.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { ClaimLost } from '../idempotency/claimed-execution.ts';
import type { Reservation } from '../ledger/hold.ts';
import { giveBack } from '../paid-call/with-paid-call.ts';
import { untilDefinite } from '../retry.ts';
import type { CreatePorts, ReadyVideo, VideoManner } from './create-video.ts';
import { firstLookAt } from './resume-videos.ts';
import type { VideoFailure, VideoJob, VideoOrderRecord } from './video-job.ts';

interface Beginning {
  readonly reservation: Reservation;
  readonly passage: Passage;
  readonly ready: ReadyVideo;
  readonly record: VideoOrderRecord;
  readonly keyed: VideoManner['keyed'];
}

/** Everything after the hold. What it throws has been given back: no charge can come of a creation that ended in an error. */
export const beginVideo = async (ports: CreatePorts, beginning: Beginning): Promise<VideoJob> => {
  const { reservation, passage, ready, keyed } = beginning;
  const modelId = ready.model.id;
  const failed = { reservation, passage, modelId, attempt: keyed?.attempt };
  let mayStand = false;
  try {
    await sayNothingOfTheVendor(passage, async () => {
      await keyed?.attempt.dispatch(reservation.holdId);
      // Without an answer it may stand all the same: then, too, it has to be taken out of sight before the key is free.
      mayStand = true;
      await commitCreation(ports, beginning);
      await startMachine(ports, beginning);
    });
    const upstreamId = await callVendor(ports, beginning);
    ports.measured?.({ videos_begun: 1 });
    const job = toJob(beginning.record, upstreamId);
    await Promise.all([passage.report('succeeded'), noteUpstream(ports, beginning, upstreamId)]);
    await storeAnswer(beginning, job);
    return job;
  } catch (error) {
    throw await giveBack(ports.ledger, failed, mayStand ? await withdraw(ports, beginning, error) : error);
  }
};

/** What fails before the call tells the circuit nothing. */
const sayNothingOfTheVendor = async (passage: Passage, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    await passage.report('unknown');
    throw error;
  }
};

const commitCreation = async (ports: CreatePorts, { record }: Beginning): Promise<void> => {
  const dueAtMs = firstLookAt(record.createdAtMs, ports.times.createMs);
  const reply = await orUnavailable(untilDefinite(ports.ledger, () => ports.jobs.create(record, dueAtMs)));
  // After a lost reply it finds itself.
  if (reply.kind === 'created' || (reply.kind === 'exists' && reply.job.holdId === record.holdId)) return;
  throw new ClaimLost();
};

const startMachine = async (ports: CreatePorts, { record, keyed }: Beginning): Promise<void> => {
  const started = await orUnavailable(untilDefinite(ports.ledger, () => ports.machine.start(record.id)));
  // It has given the video up before it was begun.
  if (started === 'ended') throw given(keyed) ?? lateError(ports.times.createMs);
};

/** Nothing has been sent to the vendor yet. */
const orUnavailable = async <T>(pending: Promise<T>): Promise<T> => {
  try {
    return await pending;
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    throw new GatewayError('service_unavailable', 'The video cannot be begun at the moment. Nothing was charged.', {
      retryAfterSeconds: 30,
      cause,
    });
  }
};

const lateError = (ms: number): GatewayError =>
  new GatewayError(
    'upstream_timeout',
    `The model did not accept the video within ${Math.round(ms / 1_000)} s. Nothing was charged.`,
  );

/** Everybody counts from the creation: once the time is over, others give the video up. */
const callVendor = async (ports: CreatePorts, { ready, record }: Beginning): Promise<string> => {
  const { route, ask } = ready;
  const { createMs } = ports.times;
  const { clock } = ports.ledger;
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
 * A definite no means that the machine, or whoever took the key over, has given the video up meanwhile. Without an answer the id may
 * be there or not: the video exists either way, and its state will tell.
 */
const noteUpstream = async (ports: CreatePorts, { record, keyed }: Beginning, upstreamId: string): Promise<void> => {
  try {
    if (await untilDefinite(ports.ledger, () => ports.jobs.setUpstream(record.id, upstreamId))) return;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return;
  }
  throw given(keyed) ?? lateError(ports.times.createMs);
};

/** Under a key another request may have answered with this video already: then that answer counts. */
const given = (keyed: Beginning['keyed']): ClaimLost | undefined => {
  if (!keyed) return undefined;
  keyed.attempt.abandon();
  return new ClaimLost();
};

/** The error to end with, after the video has been taken out of sight. */
const withdraw = async (ports: CreatePorts, { record, keyed }: Beginning, error: unknown): Promise<unknown> => {
  if (error instanceof ClaimLost) return error;
  const failure = toFailure(error);
  try {
    if (await untilDefinite(ports.ledger, () => ports.jobs.refuse(record.id, failure))) return error;
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    // It has no upstream id, so the machine fails it. Until then it stands, and the key is not for another one.
    keyed?.attempt.abandon();
    return error;
  }
  return given(keyed) ?? error;
};

const toFailure = (error: unknown): VideoFailure =>
  error instanceof GatewayError
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'Something went wrong on our side. Nothing was charged.' };

export const toJob = (record: VideoOrderRecord, upstreamId: string): VideoJob => ({
  ...record,
  state: 'queued',
  progress: 0,
  refused: false,
  upstreamId,
});

/** What is not stored here is found by the video itself. */
const storeAnswer = async ({ keyed, reservation }: Beginning, job: VideoJob): Promise<void> => {
  if (!keyed) return;
  try {
    await keyed.attempt.prepare(reservation.holdId, keyed.toStored(job));
    await keyed.attempt.complete();
  } catch (error) {
    keyed.attempt.abandon();
    if (!(error instanceof ClaimLost || error instanceof GatewayError)) throw error;
  }
};
