import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { VideoJobStore } from '../../core/videos/video-job.ts';
import type { Item } from './attributes.ts';
import { send } from './failures.ts';
import { createVideoChanges } from './video-changes.ts';
import { abandoned, goneOf, positionOf, toVideoItem, toVideoJob, videoKey } from './video-item.ts';
import { createVideoLists } from './video-lists.ts';

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
