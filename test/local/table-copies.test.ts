import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { exportTables, restoreTables } from '../../local/table-copies.ts';
import { hasDynamodb, startTestDynamodb } from '../support/dynamodb.ts';

test.runIf(hasDynamodb)('OPS-16 restored tables have every exported item, with its bytes and numbers', async () => {
  const database = await startTestDynamodb();
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const folder = mkdtempSync(join(tmpdir(), 'table-copies-'));
  try {
    const items = Array.from({ length: 60 }, (_, index) => ({
      pk: { S: 'account#one' },
      sk: { S: `CHARGE#${String(index).padStart(2, '0')}` },
      amount: { N: '12345678901234567890123456789012345678' },
      holds: { M: { packed: { B: Buffer.from([index, 0, 255]) }, B: { S: 'a name' } } },
    }));
    for (const Item of items) await client.send(new PutItemCommand({ TableName: 'accounts', Item }));
    expect(await exportTables(database.endpoint, folder)).toEqual({ accounts: 60, keys: 0, videos: 0 });
    expect(readdirSync(folder).sort()).toEqual(['accounts.jsonl', 'keys.jsonl', 'videos.jsonl']);
    const names = { ...localTableNames, accounts: 'accounts-2', keys: 'keys-2', videos: 'videos-2' };
    expect(await restoreTables(database.endpoint, folder, names)).toEqual({ accounts: 60, keys: 0, videos: 0 });
    const { Items } = await client.send(new ScanCommand({ TableName: 'accounts-2' }));
    const { Items: before } = await client.send(new ScanCommand({ TableName: 'accounts' }));
    expect(Items).toEqual(before);
    expect(Items).toHaveLength(60);
  } finally {
    client.destroy();
    await database.stop();
    rmSync(folder, { recursive: true });
  }
});
