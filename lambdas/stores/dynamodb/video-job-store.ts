import {
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type QueryCommandInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  isEnded,
  type JobPage,
  type JobRange,
  type VideoJob,
  type VideoJobStore,
} from '../../core/videos/video-job.ts';
import { type Item, number, text } from './attributes.ts';
import { send } from './failures.ts';
import { query } from './query.ts';
import {
  abandoned,
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

type Changes = 'setUpstream' | 'refuse' | 'advance' | 'noteFailure' | 'noteFile' | 'end' | 'postpone' | 'remove';

/** Expressions name every attribute as `#name`: `state` is one of hundreds of words that DynamoDB reserves. */
interface Change {
  readonly set: string;
  readonly remove?: string | undefined;
  readonly condition: string;
  readonly values: Item;
  /** Whether the job that does not meet the condition is as asked for all the same: the caller's own write, or an equal one. */
  readonly already?: (job: VideoJob) => boolean;
}

const notEnded = '#state IN (:queued, :inProgress)';
const notEndedValues: Item = { ':queued': text('queued'), ':inProgress': text('in_progress') };
const runningAttributes = '#running, #dueAt';

/** What happens to a job after its creation: one conditional update each. */
const createVideoChanges = (client: DynamoDBClient, table: string): Pick<VideoJobStore, Changes> => {
  const change = (id: string, wanted: Change): Promise<boolean> => changeVideo(client, table, id, wanted);
  return {
    setUpstream: (id, upstreamId) =>
      change(id, {
        set: '#upstreamId = :upstreamId',
        condition: '#state = :queued AND attribute_not_exists(#upstreamId)',
        values: { ':upstreamId': text(upstreamId), ':queued': text('queued') },
        already: (job) => job.upstreamId === upstreamId,
      }),
    refuse: (id, failure) =>
      change(id, {
        set: '#state = :failed, #failure = :failure, #refused = :refused',
        remove: `${runningAttributes}, #listedFor`,
        condition: '#state = :queued AND attribute_not_exists(#upstreamId)',
        values: {
          ':failed': text('failed'),
          ':failure': failureValue(failure),
          ':refused': { BOOL: true },
          ':queued': text('queued'),
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
          ...(tokens === undefined ? {} : { ':tokens': number(tokens) }),
        },
      }),
    end: (id, ending) =>
      change(id, {
        set: ending.state === 'completed' ? '#state = :state, #completedAt = :how' : '#state = :state, #failure = :how',
        remove: runningAttributes,
        condition: notEnded,
        values: {
          ...notEndedValues,
          ':state': text(ending.state),
          ':how': ending.state === 'completed' ? number(ending.completedAtMs) : failureValue(ending.failure),
        },
        already: (job) => job.state === ending.state,
      }),
    remove: (id) =>
      change(id, {
        set: '#gone = :removed',
        remove: removedAttributes.map((name) => `#${name}`).join(', '),
        condition: '#state IN (:completed, :failed) OR #gone = :removed',
        values: { ':removed': text('removed'), ':completed': text('completed'), ':failed': text('failed') },
      }),
    postpone: (id, dueAtMs) =>
      change(id, {
        set: '#dueAt = :dueAt',
        condition: notEnded,
        values: { ...notEndedValues, ':dueAt': number(dueAtMs) },
      }),
  };
};

/** Whoever comes late with less progress finds a job that is in progress, which is as much as there is to do. */
const advanced = (progress: number | undefined): Change =>
  progress === undefined
    ? { set: '#state = :inProgress', condition: notEnded, values: notEndedValues }
    : {
        set: '#state = :inProgress, #progress = :progress',
        condition: `${notEnded} AND #progress <= :progress`,
        values: { ...notEndedValues, ':progress': number(Math.max(0, progress)) },
        already: (job) => !isEnded(job),
      };

const changeVideo = async (
  client: DynamoDBClient,
  table: string,
  id: string,
  { set, remove, condition, values, already }: Change,
): Promise<boolean> => {
  const update = `SET ${set}${remove === undefined ? '' : ` REMOVE ${remove}`}`;
  const reply = await send(() =>
    client.send(
      new UpdateItemCommand({
        TableName: table,
        Key: videoKey(id),
        UpdateExpression: update,
        ConditionExpression: condition,
        ExpressionAttributeNames: namesIn(`${update} ${condition}`),
        ExpressionAttributeValues: values,
        // Where nothing else would do, the whole item need not come back.
        ReturnValuesOnConditionCheckFailure: already ? 'ALL_OLD' : 'NONE',
      }),
    ),
  );
  if ('ok' in reply) return true;
  const present = reply.conditionFailed;
  return already !== undefined && present !== undefined && !goneOf(present) && already(toVideoJob(present));
};

/** Names that no expression uses are refused. */
const namesIn = (expressions: string): Record<string, string> =>
  Object.fromEntries(Array.from(expressions.matchAll(/#(\w+)/g), ([placeholder, name = '']) => [placeholder, name]));

/** The two indexes of the table. Both are sparse, and both lag a little behind it. */
const createVideoLists = (client: DynamoDBClient, table: string): Pick<VideoJobStore, 'list' | 'due'> => ({
  list: (accountId, range) => list(client, table, accountId, range),
  due: async (nowMs) => {
    const condition = '#running = :running AND #dueAt <= :now';
    const items = await query(client, {
      TableName: table,
      IndexName: 'running',
      KeyConditionExpression: condition,
      ExpressionAttributeNames: namesIn(condition),
      ExpressionAttributeValues: { ':running': text(RUNNING), ':now': number(nowMs) },
    });
    return items.map(videoIdOf);
  },
});

const list = async (
  client: DynamoDBClient,
  table: string,
  accountId: string,
  { limit, after, newestFirst }: JobRange,
): Promise<JobPage> => {
  const request: QueryCommandInput = {
    TableName: table,
    IndexName: 'account',
    KeyConditionExpression: 'listedFor = :account',
    ExpressionAttributeValues: { ':account': text(accountId) },
    ScanIndexForward: !newestFirst,
    // One more tells whether there are more.
    Limit: limit + 1,
    ExclusiveStartKey: after && listPositionOf(accountId, after),
  };
  const items = await query(client, request, limit + 1);
  return { jobs: items.slice(0, limit).map(toVideoJob), more: items.length > limit };
};

/** Several jobs may be of one millisecond: only with the table's own key is a position in the index a single one. */
const listPositionOf = (accountId: string, { id, createdAtMs }: NonNullable<JobRange['after']>): Item => ({
  ...videoKey(id),
  listedFor: text(accountId),
  createdAt: number(createdAtMs),
});

/** Videos on one table. The client may repeat a call. */
export const createVideoJobStore = (client: DynamoDBClient, table: string): VideoJobStore => ({
  ...createVideoChanges(client, table),
  ...createVideoLists(client, table),
  create: async (order, dueAtMs) => {
    const present = await putIfAbsent(client, table, toVideoItem(order, dueAtMs));
    if (!present) return { kind: 'created' };
    return goneOf(present) ? { kind: 'closed' } : { kind: 'exists', job: toVideoJob(present) };
  },
  abandon: async (id) => {
    const present = await putIfAbsent(client, table, abandoned(id));
    if (!present) return { kind: 'abandoned' };
    const kind = goneOf(present);
    return kind ? { kind } : { kind: 'exists', job: toVideoJob(present) };
  },
  read: async (id) => {
    const item = await readItem(client, table, id);
    return item && !goneOf(item) ? toVideoJob(item) : undefined;
  },
  locate: async (id) => {
    const item = await readItem(client, table, id);
    return item && positionOf(item);
  },
});

const readItem = async (client: DynamoDBClient, table: string, id: string): Promise<Item | undefined> => {
  const reply = await send(() =>
    client.send(new GetItemCommand({ TableName: table, Key: videoKey(id), ConsistentRead: true })),
  );
  return 'ok' in reply ? reply.ok.Item : undefined;
};

/** Answers what stands in the way. */
const putIfAbsent = async (client: DynamoDBClient, table: string, item: Item): Promise<Item | undefined> => {
  const reply = await send(() =>
    client.send(
      new PutItemCommand({
        TableName: table,
        Item: item,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    ),
  );
  if ('ok' in reply) return undefined;
  if (!reply.conditionFailed) throw new Error('a video exists, but the store did not show it');
  return reply.conditionFailed;
};
