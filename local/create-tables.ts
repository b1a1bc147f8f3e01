import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  type KeySchemaElement,
  ListTablesCommand,
  ScanCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import { type KeyAttribute, type TableDescription, type TableName, tableNames, tables } from '../lib/tables.ts';

/** Physical name of each table. */
export type TableNames = Readonly<Record<TableName, string>>;

/** One machine has one database for the gateway alone, so the logical names serve as table names. */
export const localTableNames: TableNames = {
  accounts: 'accounts',
  keys: 'keys',
  idempotency: 'idempotency',
  counters: 'counters',
  videos: 'videos',
};

/** DynamoDB Local keeps one database per region and access key, so every local client must use the same pair. */
export function localDynamodbConfig(endpoint: string) {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  } satisfies DynamoDBClientConfig;
}

/**
 * Creates the missing tables and keeps the content of the others. An empty table of an earlier version with other
 * indexes is created again. Throws an Error if such a table is not empty.
 */
export async function createTables(endpoint: string, names: TableNames = localTableNames): Promise<void> {
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  try {
    const existing = await listTableNames(client);
    const current = await Promise.all(
      tableNames.map((name) => existing.has(names[name]) && isCurrent(client, names[name], tables[name])),
    );
    const missing = tableNames.filter((_, index) => !current[index]);
    await Promise.all(missing.map((name) => createTable(client, names[name], tables[name])));
  } finally {
    client.destroy();
  }
}

async function listTableNames(client: DynamoDBClient): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let startName: string | undefined;
  do {
    const page = await client.send(new ListTablesCommand({ ExclusiveStartTableName: startName }));
    for (const name of page.TableNames ?? []) found.add(name);
    startName = page.LastEvaluatedTableName;
  } while (startName !== undefined);
  return found;
}

async function isCurrent(client: DynamoDBClient, TableName: string, { indexes }: TableDescription): Promise<boolean> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const found = Table?.GlobalSecondaryIndexes ?? [];
  const isFound = (index: TableDescription['indexes'][number]) =>
    found.some(
      ({ IndexName, KeySchema }) =>
        IndexName === index.name && JSON.stringify(KeySchema) === JSON.stringify(toKeySchema(index)),
    );
  if (found.length === indexes.length && indexes.every(isFound)) return true;
  const { Count } = await client.send(new ScanCommand({ TableName, Limit: 1 }));
  if (Count !== 0)
    throw new Error(
      `The table ${TableName} was created by an earlier version. Start once with --reset, which deletes the local data.`,
    );
  await client.send(new DeleteTableCommand({ TableName }));
  await waitUntilTableNotExists({ client, maxWaitTime: 10, minDelay: 1 }, { TableName });
  return false;
}

async function createTable(client: DynamoDBClient, physicalName: string, table: TableDescription): Promise<void> {
  await client.send(new CreateTableCommand(toCreateTableInput(physicalName, table)));
  await waitUntilTableExists({ client, maxWaitTime: 10, minDelay: 1 }, { TableName: physicalName });
  if (table.timeToLiveAttribute === undefined) return;
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: physicalName,
      TimeToLiveSpecification: { Enabled: true, AttributeName: table.timeToLiveAttribute },
    }),
  );
}

function toCreateTableInput(physicalName: string, table: TableDescription): CreateTableCommandInput {
  const types = new Map<string, KeyAttribute['type']>();
  for (const { partitionKey, sortKey } of [table, ...table.indexes]) {
    types.set(partitionKey.name, partitionKey.type);
    if (sortKey !== undefined) types.set(sortKey.name, sortKey.type);
  }
  return {
    TableName: physicalName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: toKeySchema(table),
    // DynamoDB rejects an empty list but accepts an absent one.
    GlobalSecondaryIndexes:
      table.indexes.length === 0
        ? undefined
        : table.indexes.map((index) => ({
            IndexName: index.name,
            KeySchema: toKeySchema(index),
            Projection: { ProjectionType: index.projection },
          })),
    StreamSpecification: table.stream === undefined ? undefined : { StreamEnabled: true, StreamViewType: table.stream },
  };
}

function toKeySchema(keys: { partitionKey: KeyAttribute; sortKey?: KeyAttribute }): KeySchemaElement[] {
  const schema: KeySchemaElement[] = [{ AttributeName: keys.partitionKey.name, KeyType: 'HASH' }];
  if (keys.sortKey !== undefined) schema.push({ AttributeName: keys.sortKey.name, KeyType: 'RANGE' });
  return schema;
}
