import { type Wire, wireSchema } from '../../core/catalog/providers.ts';
import { type ErrorCode, errorCodes } from '../../core/errors/error-codes.ts';
import type {
  JobPosition,
  StoredFile,
  VideoFailure,
  VideoJob,
  VideoOrderRecord,
  VideoState,
  VideoTerms,
  Webhook,
} from '../../core/videos/video-job.ts';
import { type Item, number, readBigint, readMap, readNumber, readText, text } from './attributes.ts';

const KEY_PREFIX = 'video#';

export const videoKey = (id: string): Item => ({ pk: text(`${KEY_PREFIX}${id}`) });

export const videoIdOf = (item: Item): string => readText(item, 'pk').slice(KEY_PREFIX.length);

/** The one partition of the index over jobs that have not ended. */
export const RUNNING = 'yes';

/**
 * Two attributes are there for an index only, and go when it is to lose the item: `listedFor`, the owner once more while lists may
 * show the job, and `running`, until the job has ended.
 */
export const toVideoItem = (order: VideoOrderRecord, dueAtMs: number): Item => ({
  ...videoKey(order.id),
  accountId: text(order.accountId),
  listedFor: text(order.accountId),
  running: text(RUNNING),
  dueAt: number(dueAtMs),
  requestId: text(order.requestId),
  holdId: text(order.holdId),
  holdAmount: number(order.holdAmountPicos),
  modelId: text(order.modelId),
  providerId: text(order.providerId),
  wire: text(order.wire),
  upstreamModel: text(order.upstreamModel),
  prompt: text(order.prompt),
  seconds: number(order.seconds),
  width: number(order.width),
  height: number(order.height),
  createdAt: number(order.createdAtMs),
  terms: {
    M: {
      unit: text(order.terms.unit),
      rate: number(order.terms.ratePicos),
      unitsMax: number(order.terms.unitsMax),
    },
  },
  ...(order.webhook && { webhook: { M: { url: text(order.webhook.url), secret: text(order.webhook.secret) } } }),
  state: text('queued'),
  progress: number(0),
});

export const failureValue = ({ code, message }: VideoFailure) => ({ M: { code: text(code), message: text(message) } });

export const fileValue = ({ name, bytes, sha256 }: StoredFile) => ({
  M: { name: text(name), bytes: number(bytes), sha256: text(sha256) },
});

/** What a video is no more once it has been removed: all but its owner and its place in the list. */
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
  'state',
  'progress',
  'refused',
  'upstreamId',
  'failure',
  'file',
  'tokens',
  'completedAt',
] as const;

/** Undefined for what was abandoned: there never was a video. */
export const positionOf = (item: Item): JobPosition | undefined =>
  item.accountId && {
    id: videoIdOf(item),
    accountId: readText(item, 'accountId'),
    createdAtMs: readNumber(item, 'createdAt'),
  };

/** What stands under an id that is used up: that nobody may make this video, or that its owner took it away. */
export type Gone = 'abandoned' | 'removed';

export const abandoned = (id: string): Item => ({ ...videoKey(id), gone: text('abandoned') });

export const goneOf = (item: Item): Gone | undefined => {
  if (item.gone === undefined) return undefined;
  const gone = readText(item, 'gone');
  if (gone === 'abandoned' || gone === 'removed') return gone;
  throw new Error(`${videoIdOf(item)} is gone in the unknown way "${gone}"`);
};

/** Throws an Error that names the video when the item cannot be read. */
export const toVideoJob = (item: Item): VideoJob => {
  try {
    return { ...toOrder(item), ...toProgress(item) };
  } catch (cause) {
    throw new Error(`${item.pk?.S}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
};

const toOrder = (item: Item): VideoOrderRecord => ({
  id: videoIdOf(item),
  accountId: readText(item, 'accountId'),
  requestId: readText(item, 'requestId'),
  holdId: readText(item, 'holdId'),
  holdAmountPicos: readBigint(item, 'holdAmount'),
  modelId: readText(item, 'modelId'),
  providerId: readText(item, 'providerId'),
  wire: toWire(readText(item, 'wire')),
  upstreamModel: readText(item, 'upstreamModel'),
  prompt: readText(item, 'prompt'),
  seconds: readNumber(item, 'seconds'),
  width: readNumber(item, 'width'),
  height: readNumber(item, 'height'),
  createdAtMs: readNumber(item, 'createdAt'),
  terms: toTerms(readMap(item, 'terms')),
  ...(item.webhook && { webhook: toWebhook(readMap(item, 'webhook')) }),
});

const toProgress = (item: Item): Omit<VideoJob, keyof VideoOrderRecord> => ({
  state: toState(readText(item, 'state')),
  progress: readFraction(item, 'progress'),
  refused: item.refused?.BOOL === true,
  ...(item.upstreamId && { upstreamId: readText(item, 'upstreamId') }),
  ...(item.failure && { failure: toFailure(readMap(item, 'failure')) }),
  ...(item.file && { file: toFile(readMap(item, 'file')) }),
  ...(item.tokens && { tokens: readFraction(item, 'tokens') }),
  ...(item.completedAt && { completedAtMs: readNumber(item, 'completedAt') }),
});

/** Vendors report these two, and a part of a percent must not make a job unreadable. */
const readFraction = (item: Item, name: string): number => {
  const value = Number(item[name]?.N);
  if (Number.isNaN(value)) throw new Error(`a stored item has no number "${name}"`);
  return value;
};

const toTerms = (item: Item): VideoTerms => {
  const unit = readText(item, 'unit');
  if (unit !== 'token' && unit !== 'second') throw new Error(`the unit "${unit}" is unknown`);
  return { unit, ratePicos: readBigint(item, 'rate'), unitsMax: readNumber(item, 'unitsMax') };
};

const toWebhook = (item: Item): Webhook => ({ url: readText(item, 'url'), secret: readText(item, 'secret') });

const toFile = (item: Item): StoredFile => ({
  name: readText(item, 'name'),
  bytes: readNumber(item, 'bytes'),
  sha256: readText(item, 'sha256'),
});

const toFailure = (item: Item): VideoFailure => ({
  code: toCode(readText(item, 'code')),
  message: readText(item, 'message'),
});

const toState = (value: string): VideoState => {
  if (value === 'queued' || value === 'in_progress' || value === 'completed' || value === 'failed') return value;
  throw new Error(`the state "${value}" is unknown`);
};

const toWire = (value: string): Wire => {
  const wire = wireSchema.options.find((known) => known === value);
  if (wire === undefined) throw new Error(`the wire "${value}" is unknown`);
  return wire;
};

const toCode = (value: string): ErrorCode => {
  // One that was taken out of the list since must not keep a video from its end.
  return errorCodes.find((known) => known === value) ?? 'internal_error';
};
