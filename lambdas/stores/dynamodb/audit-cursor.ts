import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { AuditCursor } from '../../core/ledger/audit-run.ts';
import { text } from './attributes.ts';
import { toStoreError } from './failures.ts';

const KEY = { pk: text('audit#cursor') };

/** One item in the table of counters. If it is lost, a pass begins anew. */
export const createAuditCursor = (client: DynamoDBClient, table: string): AuditCursor => ({
  read: async () => {
    const command = new GetItemCommand({ TableName: table, Key: KEY, ConsistentRead: true });
    const { Item } = await client.send(command).catch(rethrow);
    return Item?.place?.S;
  },
  write: async (place) => {
    const item = place === undefined ? KEY : { ...KEY, place: text(place) };
    await client.send(new PutItemCommand({ TableName: table, Item: item })).catch(rethrow);
  },
});

const rethrow = (error: unknown): never => {
  throw toStoreError(error);
};
