import { type DynamoDBClient, QueryCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb';
import type { JobPage, JobRange, VideoJobStore } from '../../core/videos/job-store.ts';
import { type Item, number, text } from './attributes.ts';
import { toStoreError } from './failures.ts';
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
  };
  const items = await query(client, request, limit + 1, after && positionOf(accountId, after));
  return { jobs: items.slice(0, limit).map(toVideoJob), more: items.length > limit };
};

/** Several jobs may be of one millisecond: only with the table's own key is a position in the index a single one. */
const positionOf = (accountId: string, { id, createdAtMs }: NonNullable<JobRange['after']>): Item => ({
  ...videoKey(id),
  listedFor: text(accountId),
  createdAt: number(createdAtMs),
});

/** An answer has a megabyte at most, so a query may take several; `enough` items end it. */
const query = async (
  client: DynamoDBClient,
  request: QueryCommandInput,
  enough = Number.POSITIVE_INFINITY,
  start?: Item,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let from = start;
  do {
    const command = new QueryCommand({ ...request, ...(from ? { ExclusiveStartKey: from } : {}) });
    const page = await client.send(command).catch((error: unknown) => {
      throw toStoreError(error);
    });
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from && items.length < enough);
  return items;
};
