import {
  isEnded,
  type JobPage,
  type JobRange,
  readableJobs,
  type VideoJob,
  type VideoJobStore,
} from '../../core/videos/video-job.ts';
import type { DeliveryState } from '../../core/webhook-delivery.ts';
import type { DynamoDB, QueryRequest } from './dynamodb.ts';
import type { Item } from './item.ts';
import {
  abandoned,
  deliveryValue,
  failureValue,
  fileValue,
  goneOf,
  positionOf,
  RUNNING,
  removedAttributes,
  toVideoItem,
  toVideoJob,
  videoIdOf,
  videoKey,
} from './video-item.ts';

type Changes =
  | 'setUpstream'
  | 'refuse'
  | 'advance'
  | 'noteFailure'
  | 'noteFile'
  | 'end'
  | 'noteDelivery'
  | 'postpone'
  | 'remove';

/** Expressions name every attribute as `#name`, because `state` is one of hundreds of reserved words of DynamoDB. */
interface Change {
  readonly set: string;
  readonly remove?: string | undefined;
  readonly condition: string;
  readonly values: Item;
  /**
   * Whether a job that fails the condition already has the wanted state, from the caller's own write or an equal one.
   */
  readonly already?: (job: VideoJob) => boolean;
}

const notEnded = '#state IN (:queued, :inProgress)';
const notEndedValues: Item = { ':queued': 'queued', ':inProgress': 'in_progress' };
const runningAttributes = '#running, #dueAt';

/** Changes of a job after its creation: one conditional update each. */
const createVideoChanges = (db: DynamoDB, table: string): Pick<VideoJobStore, Changes> => {
  const change = (id: string, wanted: Change): Promise<boolean> => changeVideo(db, table, id, wanted);
  return {
    setUpstream: (id, upstreamId, credentialId) =>
      change(id, {
        set: `#upstreamId = :upstreamId${credentialId === undefined ? '' : ', #credentialId = :credentialId'}`,
        condition: '#state = :queued AND attribute_not_exists(#upstreamId)',
        values: {
          ':upstreamId': upstreamId,
          ...(credentialId !== undefined && { ':credentialId': credentialId }),
          ':queued': 'queued',
        },
        already: (job) => job.upstreamId === upstreamId,
      }),
    refuse: (id, failure) =>
      change(id, {
        set: '#state = :failed, #failure = :failure, #refused = :refused',
        remove: `${runningAttributes}, #listedFor`,
        condition: '#state = :queued AND attribute_not_exists(#upstreamId)',
        values: {
          ':failed': 'failed',
          ':failure': failureValue(failure),
          ':refused': true,
          ':queued': 'queued',
        },
        already: (job) => job.refused,
      }),
    advance: (id, progress) => change(id, advanced(progress)),
    noteFailure: (id, failure) =>
      change(id, {
        set: '#failure = if_not_exists(#failure, :failure)',
        condition: notEnded,
        values: { ...notEndedValues, ':failure': failureValue(failure) },
      }),
    noteFile: (id, file, tokens) =>
      change(id, {
        set: tokens === undefined ? '#file = :file' : '#file = :file, #tokens = :tokens',
        condition: `${notEnded} AND attribute_not_exists(#file)`,
        already: (job) => job.file?.name === file.name,
        values: {
          ...notEndedValues,
          ':file': fileValue(file),
          ...(tokens === undefined ? {} : { ':tokens': tokens }),
        },
      }),
    end: (id, ending) =>
      change(id, {
        set: ending.state === 'completed' ? '#state = :state, #completedAt = :how' : '#state = :state, #failure = :how',
        remove: runningAttributes,
        condition: notEnded,
        values: {
          ...notEndedValues,
          ':state': ending.state,
          ':how': ending.state === 'completed' ? ending.completedAtMs : failureValue(ending.failure),
        },
        already: (job) => job.state === ending.state,
      }),
    noteDelivery: (id, delivery) => change(id, delivered(delivery)),
    remove: (id) =>
      change(id, {
        set: '#gone = :removed',
        remove: removedAttributes.map((name) => `#${name}`).join(', '),
        condition: '#state IN (:completed, :failed) OR #gone = :removed',
        values: { ':removed': 'removed', ':completed': 'completed', ':failed': 'failed' },
      }),
    postpone: (id, dueAtMs) =>
      change(id, {
        set: '#dueAt = :dueAt',
        condition: notEnded,
        values: { ...notEndedValues, ':dueAt': dueAtMs },
      }),
  };
};

const delivered = (delivery: DeliveryState): Change => ({
  set: '#delivery = :delivery',
  condition: '#state IN (:completed, :failed) AND (attribute_not_exists(#delivery) OR #delivery.#attempts < :attempts)',
  values: {
    ':delivery': deliveryValue(delivery),
    ':attempts': delivery.attempts,
    ':completed': 'completed',
    ':failed': 'failed',
  },
  already: (job) => isEnded(job) && (job.delivery?.attempts ?? 0) >= delivery.attempts,
});

/** A late report of less progress succeeds if the job is in progress. */
const advanced = (progress: number | undefined): Change =>
  progress === undefined
    ? { set: '#state = :inProgress', condition: notEnded, values: notEndedValues }
    : {
        set: '#state = :inProgress, #progress = :progress',
        condition: `${notEnded} AND #progress <= :progress`,
        values: { ...notEndedValues, ':progress': Math.max(0, progress) },
        already: (job) => !isEnded(job),
      };

const changeVideo = async (
  db: DynamoDB,
  table: string,
  id: string,
  { set, remove, condition, values, already }: Change,
): Promise<boolean> => {
  const update = `SET ${set}${remove === undefined ? '' : ` REMOVE ${remove}`}`;
  const reply = await db.update({
    table,
    key: videoKey(id),
    update,
    condition,
    names: namesIn(`${update} ${condition}`),
    values,
    // Without `already` the caller does not need the stored item.
    onFailure: already ? 'ALL_OLD' : 'NONE',
  });
  if ('written' in reply) return true;
  const present = reply.conditionFailed;
  return already !== undefined && present !== undefined && !goneOf(present) && already(toVideoJob(present));
};

/** Names that the expressions use, because DynamoDB rejects unused ones. */
const namesIn = (expressions: string): Record<string, string> =>
  Object.fromEntries(Array.from(expressions.matchAll(/#(\w+)/g), ([placeholder, name = '']) => [placeholder, name]));

/** The two indexes of the table. Both are sparse and eventually consistent. */
const createVideoLists = (db: DynamoDB, table: string): Pick<VideoJobStore, 'list' | 'due'> => ({
  list: (accountId, range) => list(db, table, accountId, range),
  due: async (nowMs) => {
    const condition = '#running = :running AND #dueAt <= :now';
    const items = await db.query({
      table,
      index: 'running',
      keyCondition: condition,
      names: namesIn(condition),
      values: { ':running': RUNNING, ':now': nowMs },
    });
    return items.map(videoIdOf);
  },
});

const list = async (
  db: DynamoDB,
  table: string,
  accountId: string,
  { limit, after, newestFirst }: JobRange,
): Promise<JobPage> => {
  const request: QueryRequest = {
    table,
    index: 'account',
    keyCondition: 'listedFor = :account',
    values: { ':account': accountId },
    isForward: !newestFirst,
    // One more row detects further jobs.
    limit: limit + 1,
    after: after && listPositionOf(accountId, after),
  };
  const items = await db.query(request, limit + 1);
  const page = items.slice(0, limit);
  const jobs = readableJobs(page, toVideoJob);
  const more = items.length > limit;
  const last = page.at(-1);
  // A caller cannot continue after a page without jobs.
  if (jobs.length === 0 && more && last)
    return list(db, table, accountId, { limit, newestFirst, after: positionOf(last) });
  return { jobs, more };
};

/** Several jobs can have the same millisecond, so the position in the index includes the key of the table. */
const listPositionOf = (accountId: string, { id, createdAtMs }: NonNullable<JobRange['after']>): Item => ({
  ...videoKey(id),
  listedFor: accountId,
  createdAt: createdAtMs,
});

/** Creates the video store on one table. The database can repeat a call. */
export const createVideoJobStore = (db: DynamoDB, table: string): VideoJobStore => ({
  ...createVideoChanges(db, table),
  ...createVideoLists(db, table),
  create: async (order, dueAtMs) => {
    const present = await putIfAbsent(db, table, toVideoItem(order, dueAtMs));
    if (!present) return { kind: 'created' };
    return goneOf(present) ? { kind: 'closed' } : { kind: 'exists', job: toVideoJob(present) };
  },
  abandon: async (id) => {
    const present = await putIfAbsent(db, table, abandoned(id));
    if (!present) return { kind: 'abandoned' };
    const kind = goneOf(present);
    return kind ? { kind } : { kind: 'exists', job: toVideoJob(present) };
  },
  read: async (id) => {
    const item = await db.get(table, videoKey(id));
    return item && !goneOf(item) ? toVideoJob(item) : undefined;
  },
  locate: async (id) => {
    const item = await db.get(table, videoKey(id));
    return item && positionOf(item);
  },
});

/** Returns the item that exists already; undefined if the write succeeded. */
const putIfAbsent = async (db: DynamoDB, table: string, item: Item): Promise<Item | undefined> => {
  const reply = await db.put({
    table,
    item,
    condition: 'attribute_not_exists(pk)',
    onFailure: 'ALL_OLD',
  });
  if ('written' in reply) return undefined;
  if (!reply.conditionFailed) throw new Error('a video exists, but the store did not show it');
  return reply.conditionFailed;
};
