import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { VideoJobStore } from '../../core/videos/video-job.ts';
import { isEnded, type VideoJob } from '../../core/videos/video-job.ts';
import { type Item, number, text } from './attributes.ts';
import { send } from './failures.ts';
import { failureValue, fileValue, goneOf, removedAttributes, toVideoJob, videoKey } from './video-item.ts';

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
export const createVideoChanges = (client: DynamoDBClient, table: string): Pick<VideoJobStore, Changes> => {
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
export const namesIn = (expressions: string): Record<string, string> =>
  Object.fromEntries(Array.from(expressions.matchAll(/#(\w+)/g), ([placeholder, name = '']) => [placeholder, name]));
