import type { DynamoDBClient, QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { JobPage, JobRange, VideoJobStore } from '../../core/videos/video-job.ts';
import { type Item, number, text } from './attributes.ts';
import { query } from './query.ts';
import { namesIn } from './video-changes.ts';
import { RUNNING, toVideoJob, videoIdOf, videoKey } from './video-item.ts';

/** The two indexes of the table. Both are sparse, and both lag a little behind it. */
export const createVideoLists = (client: DynamoDBClient, table: string): Pick<VideoJobStore, 'list' | 'due'> => ({
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
    ExclusiveStartKey: after && positionOf(accountId, after),
  };
  const items = await query(client, request, limit + 1);
  return { jobs: items.slice(0, limit).map(toVideoJob), more: items.length > limit };
};

/** Several jobs may be of one millisecond: only with the table's own key is a position in the index a single one. */
const positionOf = (accountId: string, { id, createdAtMs }: NonNullable<JobRange['after']>): Item => ({
  ...videoKey(id),
  listedFor: text(accountId),
  createdAt: number(createdAtMs),
});
