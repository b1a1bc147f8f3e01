import {
  BatchGetItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { type Item, readText } from './attributes.ts';
import { keyOf } from './circuit-items.ts';
import { send, toStoreError } from './failures.ts';

type Change = Omit<UpdateItemCommandInput, 'TableName' | 'Key'>;

interface ItemsRead {
  readonly items: ReadonlyMap<string, Item>;
  /** Left out for want of capacity; not asked for again, because the next reading comes soon. */
  readonly unread: ReadonlySet<string>;
}

/** Calls on the items of circuits, each by its id. */
export interface CircuitCalls {
  read(ids: readonly string[]): Promise<ItemsRead>;
  update(
    id: string,
    change: Change,
  ): Promise<{ ok: { Attributes?: Item | undefined } } | { conditionFailed: Item | undefined }>;
  /** Whether the update's condition held. */
  holds(id: string, change: Change): Promise<boolean>;
  /** Whether the condition held. */
  remove(id: string, condition: string, values: Item): Promise<boolean>;
}

export const createCircuitCalls = (client: DynamoDBClient, table: string): CircuitCalls => {
  const update: CircuitCalls['update'] = (id, change) =>
    send(() => client.send(new UpdateItemCommand({ TableName: table, Key: keyOf(id), ...change })));
  return {
    update,
    holds: async (id, change) => 'ok' in (await update(id, change)),
    remove: async (id, ConditionExpression, ExpressionAttributeValues) => {
      const input = { TableName: table, Key: keyOf(id), ConditionExpression, ExpressionAttributeValues };
      return 'ok' in (await send(() => client.send(new DeleteItemCommand(input))));
    },
    read: async (ids) => {
      const request = { [table]: { Keys: ids.map(keyOf), ConsistentRead: true } };
      const reply = await client.send(new BatchGetItemCommand({ RequestItems: request })).catch((error: unknown) => {
        throw toStoreError(error);
      });
      const items = Object.values(reply.Responses ?? {}).flat();
      const unread = Object.values(reply.UnprocessedKeys ?? {}).flatMap(({ Keys }) => Keys ?? []);
      return {
        items: new Map(items.map((item) => [readText(item, 'pk'), item])),
        unread: new Set(unread.map((key) => readText(key, 'pk'))),
      };
    },
  };
};
