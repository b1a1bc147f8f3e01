import { type ErrorCode, errorCodes } from '../../core/errors/error-codes.ts';
import {
  type JobPosition,
  type StoredFile,
  toVideoState,
  toVideoUnit,
  type VideoFailure,
  type VideoJob,
  type VideoParamsRecord,
  type VideoTerms,
  type Webhook,
} from '../../core/videos/video-job.ts';
import type { DeliveryState } from '../../core/webhook-delivery.ts';
import { holdCapValue, toHoldCap } from './cap-items.ts';
import { type Item, optionalText, readBigint, readFraction, readMap, readNumber, readText } from './item.ts';

const KEY_PREFIX = 'video#';

export const videoKey = (id: string): Item => ({ pk: `${KEY_PREFIX}${id}` });

export const videoIdOf = (item: Item): string => readText(item, 'pk').slice(KEY_PREFIX.length);

/** Single partition of the index of unfinished jobs. */
export const RUNNING = 'yes';

/**
 * Two attributes exist only for the indexes and are removed with the entry: `listedFor` is the owner while lists may
 * show the job, and `running` exists until the job has ended.
 */
export const toVideoItem = (order: VideoParamsRecord, dueAtMs: number): Item => ({
  ...videoKey(order.id),
  accountId: order.accountId,
  listedFor: order.accountId,
  running: RUNNING,
  dueAt: dueAtMs,
  requestId: order.requestId,
  holdId: order.holdId,
  holdAmount: order.holdAmountPicos,
  modelId: order.modelId,
  providerId: order.providerId,
  wire: order.wire,
  upstreamModel: order.upstreamModel,
  prompt: order.prompt,
  seconds: order.seconds,
  width: order.width,
  height: order.height,
  createdAt: order.createdAtMs,
  terms: {
    unit: order.terms.unit,
    rate: order.terms.ratePicos,
    unitsMax: order.terms.unitsMax,
  },
  ...(order.webhook && { webhook: { url: order.webhook.url, secret: order.webhook.secret } }),
  ...(order.keyId !== undefined && { keyId: order.keyId }),
  ...(order.endpoint !== undefined && { endpoint: order.endpoint }),
  ...(order.cap && { cap: holdCapValue(order.cap) }),
  state: 'queued',
  progress: 0,
});

export const failureValue = ({ code, message }: VideoFailure) => ({ code, message });

export const fileValue = ({ name, bytes, sha256 }: StoredFile) => ({ name, bytes, sha256 });

export const deliveryValue = ({ attempts, lastAtMs, status, problem, nextAtMs }: DeliveryState): Item => ({
  attempts,
  lastAt: lastAtMs,
  ...(status === undefined ? {} : { status }),
  ...(problem === undefined ? {} : { problem }),
  ...(nextAtMs === undefined ? {} : { nextAt: nextAtMs }),
});

/** Attributes that a removal deletes: all except the owner and the position in the list. */
export const removedAttributes = [
  'listedFor',
  'running',
  'dueAt',
  'requestId',
  'holdId',
  'holdAmount',
  'modelId',
  'providerId',
  'wire',
  'upstreamModel',
  'prompt',
  'seconds',
  'width',
  'height',
  'terms',
  'webhook',
  'keyId',
  'endpoint',
  'cap',
  'state',
  'progress',
  'refused',
  'upstreamId',
  'credentialId',
  'failure',
  'file',
  'tokens',
  'completedAt',
  'delivery',
] as const;

/** Undefined for an abandoned id, which never had a video. */
export const positionOf = (item: Item): JobPosition | undefined =>
  item.accountId === undefined
    ? undefined
    : {
        id: videoIdOf(item),
        accountId: readText(item, 'accountId'),
        createdAtMs: readNumber(item, 'createdAt'),
      };

/** State of a used id without a video: the gateway closed the id before a creation, or the owner removed the video. */
export type Gone = 'abandoned' | 'removed';

export const abandoned = (id: string): Item => ({ ...videoKey(id), gone: 'abandoned' });

/** A value of a newer release counts as removed. */
export const goneOf = (item: Item): Gone | undefined => {
  if (item.gone === undefined) return undefined;
  return readText(item, 'gone') === 'abandoned' ? 'abandoned' : 'removed';
};

/** Throws an Error that names a video that cannot be read. */
export const toVideoJob = (item: Item): VideoJob => {
  try {
    return { ...toParams(item), ...toProgress(item) };
  } catch (cause) {
    throw new Error(`${optionalText(item, 'pk')}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

const toParams = (item: Item): VideoParamsRecord => ({
  id: videoIdOf(item),
  accountId: readText(item, 'accountId'),
  requestId: readText(item, 'requestId'),
  holdId: readText(item, 'holdId'),
  holdAmountPicos: readBigint(item, 'holdAmount'),
  modelId: readText(item, 'modelId'),
  providerId: readText(item, 'providerId'),
  wire: readText(item, 'wire'),
  upstreamModel: readText(item, 'upstreamModel'),
  prompt: readText(item, 'prompt'),
  seconds: readNumber(item, 'seconds'),
  width: readNumber(item, 'width'),
  height: readNumber(item, 'height'),
  createdAtMs: readNumber(item, 'createdAt'),
  terms: toTerms(readMap(item, 'terms')),
  ...(item.webhook === undefined ? {} : { webhook: toWebhook(readMap(item, 'webhook')) }),
  ...(item.keyId === undefined ? {} : { keyId: readText(item, 'keyId') }),
  ...(item.endpoint === undefined ? {} : { endpoint: readText(item, 'endpoint') }),
  ...(item.cap === undefined ? {} : { cap: toHoldCap(item.cap) }),
});

const toProgress = (item: Item): Omit<VideoJob, keyof VideoParamsRecord> => ({
  state: toVideoState(readText(item, 'state')),
  progress: readFraction(item, 'progress'),
  refused: item.refused === true,
  ...(item.upstreamId === undefined ? {} : { upstreamId: readText(item, 'upstreamId') }),
  ...(item.credentialId === undefined ? {} : { credentialId: readText(item, 'credentialId') }),
  ...(item.failure === undefined ? {} : { failure: toFailure(readMap(item, 'failure')) }),
  ...(item.file === undefined ? {} : { file: toFile(readMap(item, 'file')) }),
  ...(item.tokens === undefined ? {} : { tokens: readFraction(item, 'tokens') }),
  ...(item.completedAt === undefined ? {} : { completedAtMs: readNumber(item, 'completedAt') }),
  ...(item.delivery === undefined ? {} : { delivery: toDelivery(readMap(item, 'delivery')) }),
});

const toTerms = (item: Item): VideoTerms => ({
  unit: toVideoUnit(readText(item, 'unit')),
  ratePicos: readBigint(item, 'rate'),
  unitsMax: readNumber(item, 'unitsMax'),
});

const toWebhook = (item: Item): Webhook => ({ url: readText(item, 'url'), secret: readText(item, 'secret') });

const toFile = (item: Item): StoredFile => ({
  name: readText(item, 'name'),
  bytes: readNumber(item, 'bytes'),
  sha256: readText(item, 'sha256'),
});

const toDelivery = (item: Item): DeliveryState => {
  const problem = optionalText(item, 'problem');
  return {
    attempts: readNumber(item, 'attempts'),
    lastAtMs: readNumber(item, 'lastAt'),
    ...(item.status === undefined ? {} : { status: readNumber(item, 'status') }),
    ...(problem === undefined ? {} : { problem }),
    ...(item.nextAt === undefined ? {} : { nextAtMs: readNumber(item, 'nextAt') }),
  };
};

const toFailure = (item: Item): VideoFailure => ({
  code: toCode(readText(item, 'code')),
  message: readText(item, 'message'),
});

const toCode = (value: string): ErrorCode => {
  // A code that was removed from the list must not prevent the end of a video.
  return errorCodes.find((known) => known === value) ?? 'internal_error';
};
