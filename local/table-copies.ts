import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BatchWriteItemCommand, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { createTables, localDynamodbConfig, localTableNames, type TableNames } from './create-tables.ts';

/** Tables that point-in-time recovery covers. */
const copied = ['accounts', 'keys', 'videos'] as const;
type CopiedTable = (typeof copied)[number];

/** Number of copied items by table. */
export type CopiedItems = Readonly<Record<CopiedTable, number>>;

const BATCH = 25;

/**
 * Writes each table to a file of the folder, with one item in JSON per line. The caller must prevent writes meanwhile,
 * because a scan is not from one moment.
 */
export const exportTables = (endpoint: string, folder: string): Promise<CopiedItems> =>
  withClient(endpoint, async (client) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return countEach(async (table) => {
      const items: string[] = [];
      for await (const { Items = [] } of paginateScan(
        { client },
        { TableName: localTableNames[table], ConsistentRead: true },
      ))
        items.push(...Items.map((item) => JSON.stringify(item, binaryAsBase64)));
      await writeFile(fileOf(folder, table), items.map((item) => `${item}\n`).join(''), { mode: 0o600 });
      return items.length;
    });
  });

/** Creates tables with these names, and writes the exported items into them. */
export const restoreTables = (endpoint: string, folder: string, names: TableNames): Promise<CopiedItems> =>
  withClient(endpoint, async (client) => {
    await createTables(endpoint, names);
    return countEach(async (table) => {
      let restored = 0;
      let batch: ReturnType<typeof toPut>[] = [];
      const write = async (): Promise<void> => {
        if (batch.length === 0) return;
        const { UnprocessedItems } = await client.send(
          new BatchWriteItemCommand({ RequestItems: { [names[table]]: batch } }),
        );
        if (Object.keys(UnprocessedItems ?? {}).length > 0)
          throw new Error(`The database rejected items of ${names[table]}.`);
        restored += batch.length;
        batch = [];
      };
      for await (const line of createInterface(createReadStream(fileOf(folder, table)))) {
        batch.push(toPut(line));
        if (batch.length === BATCH) await write();
      }
      await write();
      return restored;
    });
  });

const fileOf = (folder: string, table: CopiedTable): string => join(folder, `${table}.jsonl`);

const countEach = async (work: (table: CopiedTable) => Promise<number>): Promise<CopiedItems> => {
  const [accounts, keys, videos] = [await work('accounts'), await work('keys'), await work('videos')];
  return { accounts, keys, videos };
};

const withClient = async <T>(endpoint: string, work: (client: DynamoDBClient) => Promise<T>): Promise<T> => {
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
};

/** `JSON.stringify` writes bytes as an object with one member per byte. */
function binaryAsBase64(name: string, value: unknown): unknown {
  return name === 'B' && value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;
}

const toPut = (line: string) => ({
  PutRequest: {
    Item: JSON.parse(line, (name, value: unknown) =>
      name === 'B' && typeof value === 'object' && value !== null && 'base64' in value
        ? Buffer.from(String(value.base64), 'base64')
        : value,
    ),
  },
});
