import { createHash } from 'node:crypto';
import { withoutMarkup } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import type { ChargeRecord } from '../ledger/ledger.ts';
import { resolveHoldById } from '../ledger/release.ts';
import { apply, commit } from '../ledger/resolve.ts';
import { meterMargin } from '../paid-call/dependencies.ts';
import { hasNoCount, USAGE_MISSING } from '../pricing/charge.ts';
import { retryUntilDefinite } from '../retry.ts';
import { afterAttempt, isDelivered } from '../webhook-delivery.ts';
import type { VideoStepDependencies } from './dependencies.ts';
import { askVendor } from './poll-video.ts';
import { isEnded, type VideoFailure, type VideoJob, type VideoTimes } from './video-job.ts';
import { chargeForVideo } from './video-price.ts';
import type { VideoFile } from './video-wire.ts';

const CALL_MS = 30_000;

/** Shorter than the workflow's timeout for this step, so that an attempt ends before the next one starts. */
const STORE_MS = 140_000;

const NAME_PART = 1e9;

/** Larger than any clip of twelve seconds. It keeps a provider that never stops from filling the bucket. */
const FILE_BYTES_MAX = 2 * 1024 * 1024 * 1024;

/** Offset of the name of an MP4's first box, after its length: ISO/IEC 14496-12, 4.3. */
const BOX_NAME_AT = 4;

const FIRST_BOX = Buffer.from('ftyp');

const HEAD_BYTES = BOX_NAME_AT + FIRST_BOX.length;

/**
 * VID-5: copies the file from the provider to the bucket, and records its properties and the usage that the provider
 * reports. Safe to repeat: a recorded file is not copied again. Throws StoreError, and GatewayError if the provider
 * sends no complete MP4.
 */
export const storeVideo = async (deps: VideoStepDependencies, videoId: string): Promise<void> => {
  const { jobs, files, ledger } = deps;
  const job = await retryUntilDefinite(ledger, () => jobs.read(videoId));
  if (!job || isEnded(job) || job.file) return;
  if (job.upstreamId === undefined)
    throw new GatewayError('upstream_error', 'The creation of this video did not complete.');
  const status = await askVendor(deps, job, job.upstreamId, CALL_MS);
  if (status.kind !== 'succeeded') throw new GatewayError('upstream_error', 'The provider no longer has the video.');
  const name = `${videoId}/${attemptName(ledger)}`;
  const endsAtMs = ledger.clock.now() + STORE_MS;
  const taken = takeWhole(await status.open(), () => ledger.clock.now() >= endsAtMs);
  await files.put(name, taken.bytes);
  const file = { name, ...taken.facts() };
  if (await retryUntilDefinite(ledger, () => jobs.noteFile(videoId, file, status.tokens))) return;
  // Another attempt was faster, and its file is the one that is charged.
  await files.remove(name).catch(ignoreStore);
};

/** Name of one attempt. Two attempts may run concurrently in two processes. */
const attemptName = ({ random }: VideoStepDependencies['ledger']): string =>
  Array.from({ length: 3 }, () => Math.floor(random() * NAME_PART)).join('-');

/**
 * Passes on the bytes and computes their length and hash in the same pass. Throws in the iteration if the file is
 * incomplete or not an MP4.
 */
const takeWhole = ({ bytes: source, length }: VideoFile, isLate: () => boolean) => {
  const hash = createHash('sha256');
  let size = 0;
  let head = Buffer.alloc(0);
  const take = (piece: Uint8Array): void => {
    if (head.length < HEAD_BYTES)
      head = checkedHead(Buffer.concat([head, piece.subarray(0, HEAD_BYTES - head.length)]));
    size += piece.length;
    if (isLate()) throw new GatewayError('upstream_timeout', 'The file of the video did not arrive in time.');
    if (size > FILE_BYTES_MAX) throw broken('it is too large');
    hash.update(piece);
  };
  async function* pass(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      take(piece);
      yield piece;
    }
    if (head.length < HEAD_BYTES) throw broken('it is empty');
    if (length !== undefined && size !== length) throw broken('it is incomplete');
  }
  return { bytes: pass(), facts: () => ({ bytes: size, sha256: hash.digest('hex') }) };
};

const checkedHead = (head: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> => {
  if (head.length === HEAD_BYTES && !head.subarray(BOX_NAME_AT).equals(FIRST_BOX)) throw broken('it is not an MP4');
  return head;
};

const broken = (what: string): GatewayError =>
  new GatewayError('upstream_error', `The file of the video cannot be used: ${what}. Nothing was charged.`);

const readJob = ({ jobs, ledger }: VideoStepDependencies, videoId: string): Promise<VideoJob | undefined> =>
  retryUntilDefinite(ledger, () => jobs.read(videoId));

/**
 * VID-6: writes the charge record of a video whose file is stored. The first record of a hold counts, so a released
 * video is not charged. Throws StoreError. Safe to repeat.
 */
export const chargeVideo = async (deps: VideoStepDependencies, videoId: string): Promise<void> => {
  const job = await readJob(deps, videoId);
  if (!job || isEnded(job)) return;
  if (!job.file) throw new Error(`${videoId} must be charged and has no file`);
  const { accountId, holdId, requestId, modelId, holdAmountPicos, terms, keyId, endpoint, cap } = job;
  const nowMs = deps.ledger.clock.now();
  const { amountPicos, prices, usage, implausible } = chargeForVideo(job);
  const overage = amountPicos > holdAmountPicos;
  const isUsageMissing = terms.unit === 'token' && terms.ratePicos > 0n && hasNoCount(usage);
  const record = await commit(deps.ledger, {
    accountId,
    holdId,
    requestId,
    outcome: 'settled',
    amountPicos,
    at: nowMs,
    model: modelId,
    usage,
    prices,
    ...(isUsageMissing ? { reason: USAGE_MISSING } : {}),
    ...(overage ? { overage } : {}),
    ...(implausible ? { implausible } : {}),
    ...(keyId === undefined ? {} : { keyId }),
    ...(endpoint === undefined ? {} : { endpoint }),
    provider: job.providerId,
    totalMs: Math.max(0, nowMs - job.createdAtMs),
    costPicos: withoutMarkup(deps.catalog, amountPicos),
    ...(cap && { cap }),
  });
  if (record.outcome !== 'settled') return tellLate(deps, videoId, amountPicos);
  if (implausible) deps.notice('video_usage_implausible', videoId);
  if (overage) deps.notice('video_overage', videoId);
  if (!isUsageMissing) return;
  deps.notice('video_usage_missing', videoId);
  await deps.usageMissing(modelId, accountId);
};

const tellLate = ({ ledger, notice }: VideoStepDependencies, videoId: string, amountPicos: bigint): void => {
  ledger.meter?.({ uncollected: amountPicos });
  notice('video_late_settlement', videoId);
};

/** Sets the state by the record. Throws an Error without a record, because that step comes first. */
export const finishVideo = async (deps: VideoStepDependencies, videoId: string): Promise<VideoEnded> => {
  const job = await readJob(deps, videoId);
  if (!job) return { webhook: false };
  const { store } = deps.ledger;
  const record = await retryUntilDefinite(deps.ledger, () => store.readRecord(job.accountId, job.holdId));
  if (!record) throw new Error(`${videoId} must be ended and its hold has no record`);
  await endVideo(deps, job, record);
  return { webhook: job.webhook !== undefined && !job.refused };
};

/** Whether a webhook must be sent. */
interface VideoEnded {
  readonly webhook: boolean;
}

const timedOut: VideoFailure = {
  code: 'upstream_timeout',
  message: 'The video was not finished in time. Nothing was charged. Create the video again.',
};

const notStored: VideoFailure = {
  code: 'upstream_error',
  message: 'The finished video could not be stored. Nothing was charged. Create the video again.',
};

/**
 * Ends a video that will not be delivered: a provider that failed, a timeout, a lasting fault, an execution that died.
 * A committed charge takes precedence, and the video is then completed. Throws StoreError. Safe to repeat.
 */
export const releaseVideo = async (deps: EndingDependencies, videoId: string): Promise<VideoEnded> => {
  const { jobs, ledger, notice } = deps;
  const read = () => retryUntilDefinite(ledger, () => jobs.read(videoId));
  const found = await read();
  if (!found) return { webhook: false };
  const job = found;
  const isLate = ledger.clock.now() - job.createdAtMs >= deps.times.limitMs;
  const failure = job.failure ?? (isLate ? timedOut : notStored);
  if (!isEnded(job) && !job.failure) {
    if (isLate) notice('video_timed_out', videoId);
    await retryUntilDefinite(ledger, () => jobs.noteFailure(videoId, failure));
  }
  const { accountId, holdId, cap } = job;
  const record = await resolveHoldById(ledger, { accountId, holdId, reason: failure.code, cap });
  await endVideo(deps, (await read()) ?? job, record);
  return { webhook: job.webhook !== undefined && !job.refused };
};

const lateFailure: VideoFailure = {
  code: 'internal_error',
  message:
    'The video could not be charged in time, so it is not available. Nothing was charged. Create the video again.',
};

/** Dependencies for ending a video, without providers. */
interface EndingDependencies
  extends Pick<VideoStepDependencies, 'jobs' | 'files' | 'ledger' | 'notice' | 'measured' | 'margin'> {
  readonly times: Pick<VideoTimes, 'limitMs'>;
}

/**
 * Last write of a video: its state, which depends only on the outcome of its hold. So a video is `completed` exactly
 * when it was charged. Throws StoreError. Safe to repeat.
 */
const endVideo = async (deps: EndingDependencies, job: VideoJob, record: ChargeRecord): Promise<void> => {
  const { ledger, jobs, files, notice, measured } = deps;
  await apply(ledger, record, job.holdAmountPicos);
  if (record.outcome === 'settled') {
    const completed = { state: 'completed', completedAtMs: ledger.clock.now() } as const;
    if (job.state !== 'completed' && (await retryUntilDefinite(ledger, () => jobs.end(job.id, completed)))) {
      notice('video_completed', job.id);
      const seconds = (completed.completedAtMs - job.createdAtMs) / 1_000;
      meterMargin(deps, record);
      measured?.({ video_s: seconds, video_stored_bytes: job.file?.bytes ?? 0 });
    }
    return;
  }
  const failed = { state: 'failed', failure: job.failure ?? lateFailure } as const;
  if (job.state !== 'failed' && (await retryUntilDefinite(ledger, () => jobs.end(job.id, failed)))) {
    notice('video_failed', job.id);
  }
  // The file is never delivered, and the bucket deletes it later if this fails.
  if (job.file) await files.remove(job.file.name).catch(ignoreStore);
};

/** Ignores a store failure in the removal of a file, which the bucket deletes later, and in a record of a delivery. */
const ignoreStore = (error: unknown): void => {
  if (!(error instanceof StoreError)) throw error;
};

/**
 * VID-7: sends one webhook delivery about the end of a video, and records the result. Throws if the delivery fails, so
 * that the workflow retries. Nothing else depends on it. An accepted delivery is not repeated.
 */
export const notifyVideo = async (deps: VideoStepDependencies, videoId: string): Promise<void> => {
  const { jobs, ledger, notice, deliver } = deps;
  const job = await retryUntilDefinite(ledger, () => jobs.read(videoId));
  if (!job?.webhook || job.refused || !isEnded(job)) return;
  if (job.delivery && isDelivered(job.delivery)) return;
  const result = await deliver(job);
  const times = { nowMs: ledger.clock.now(), retryMs: deps.times.webhookRetryMs };
  const delivery = afterAttempt(job.delivery, result, times);
  // A lost record must not cause another delivery.
  await retryUntilDefinite(ledger, () => jobs.noteDelivery(videoId, delivery)).catch(ignoreStore);
  if (isDelivered(delivery)) return;
  notice('video_webhook_failed', videoId);
  throw new Error(`The webhook was not delivered: ${delivery.problem}`);
};
