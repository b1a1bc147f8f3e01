import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { tableNames } from '../../../lib/tables.ts';
import { createTables, localDynamodbConfig } from '../../../local/create-tables.ts';
import { openDataFolder, resetDataFolder } from '../../../local/data-folder.ts';
import { startDynamodb } from '../../../local/emulators/dynamodb.ts';
import { commandLine } from '../../../local/process-identity.ts';

let path = '';
const cleanups: (() => unknown)[] = [];
const unexpected: string[] = [];

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'gateway-database-'));
  unexpected.length = 0;
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start() {
  const folder = openDataFolder(path);
  const emulator = await startDynamodb({ folder, onExit: (message) => unexpected.push(message) });
  const client = new DynamoDBClient(localDynamodbConfig(emulator.endpoint));
  const stop = async () => {
    client.destroy();
    await emulator.stop();
    folder.close();
  };
  cleanups.push(stop);
  return { ...emulator, client, stop };
}

const startedSchema = z.object({ pid: z.int(), endpoint: z.string() });

async function startInOwnProcess() {
  const folder = path;
  const script = join(import.meta.dirname, 'fixtures/hold-database.ts');
  const host = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  cleanups.push(() => host.kill('SIGKILL'));
  const [line] = await once(host.stdout.setEncoding('utf8'), 'data');
  const started = startedSchema.parse(JSON.parse(String(line)));
  cleanups.push(() => {
    if (commandLine(started.pid).includes(join(folder, 'dynamodb/data.db'))) process.kill(started.pid, 'SIGKILL');
  });
  return { host, ...started };
}

test('a database that dies on its own is reported to the caller', async () => {
  const { pid } = await start();
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => unexpected).toEqual([expect.stringContaining('dynoxide ended (SIGKILL)')]);
});

test('a start stops the database of a killed host and keeps its acknowledged writes', async () => {
  const killed = await startInOwnProcess();
  const writer = new DynamoDBClient(localDynamodbConfig(killed.endpoint));
  await writer.send(new PutItemCommand({ TableName: 'keys', Item: { pk: { S: 'acknowledged' } } }));
  writer.destroy();
  killed.host.kill('SIGKILL');
  await once(killed.host, 'exit');
  expect(commandLine(killed.pid)[0]).toMatch(/dynoxide$/);

  const next = await start();
  expect(commandLine(killed.pid)).toEqual([]);
  const read = await next.client.send(new GetItemCommand({ TableName: 'keys', Key: { pk: { S: 'acknowledged' } } }));
  expect(read.Item).toBeDefined();
});

test('Ctrl-C ends only the host: the database keeps serving until it is stopped', async () => {
  const { host, endpoint } = await startInOwnProcess();
  process.kill(-host.pid!, 'SIGINT');
  await sleep(200);
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  expect((await client.send(new ListTablesCommand({}))).TableNames).toHaveLength(tableNames.length);
  client.destroy();
});

test('a database ends with its host, even if the host did not stop it', async () => {
  const { host, pid } = await startInOwnProcess();
  host.kill('SIGHUP');
  await expect.poll(() => commandLine(pid)).toEqual([]);
});

test('a reset stops an orphaned database as well, and the next start is empty', async () => {
  const killed = await startInOwnProcess();
  killed.host.kill('SIGKILL');
  await once(killed.host, 'exit');
  await resetDataFolder(path);
  expect(commandLine(killed.pid)).toEqual([]);
});

test('a start leaves an unrelated process with the recorded pid alone', async () => {
  const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  cleanups.push(() => bystander.kill('SIGKILL'));
  const folder = openDataFolder(path);
  const note = { pid: bystander.pid, program: 'dynoxide', ownFile: join(folder.room('dynamodb'), 'data.db') };
  writeFileSync(join(folder.room('dynamodb'), 'child.json'), JSON.stringify(note));
  folder.close();
  await start();
  expect(bystander.exitCode).toBeNull();
  expect(bystander.signalCode).toBeNull();
  expect(commandLine(bystander.pid!)).toContain('-e');
});

test('a start leaves a database that serves another file alone', async () => {
  const other = await startInOwnProcess();
  const otherPath = path;
  path = mkdtempSync(join(tmpdir(), 'gateway-database-'));
  const folder = openDataFolder(path);
  const note = { ...JSON.parse(readFileSync(join(otherPath, 'dynamodb/child.json'), 'utf8')), ownFile: 'data.db' };
  writeFileSync(join(folder.room('dynamodb'), 'child.json'), JSON.stringify(note));
  folder.close();
  await start();
  expect(commandLine(other.pid)).not.toEqual([]);
});

test('a folder in use by a living host is rejected in one line', async () => {
  const { host } = await startInOwnProcess();
  expect(() => openDataFolder(path)).toThrow(`is in use by process ${host.pid}. Stop it first.`);
  await expect(resetDataFolder(path)).rejects.toThrow('is in use by process');
});

test('a platform without a database gets one line with the fix', async () => {
  const folder = openDataFolder(path);
  cleanups.push(folder.close);
  const started = startDynamodb({
    folder,
    onExit: () => {},
    resolvePackage: () => {
      throw new Error('Cannot find module');
    },
  });
  await expect(started).rejects.toThrow(/^No local database for .*set DYNAMODB_ENDPOINT .* or run on linux-x64\.$/);
});

test('an outdated table is recreated while it is empty and rejected when it has items', async () => {
  const { endpoint, client } = await start();
  const TableName = 'videos';
  const makeOld = async () => {
    await client.send(new DeleteTableCommand({ TableName }));
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
    );
  };
  await makeOld();
  await createTables(endpoint);
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).toSorted()).toEqual(['account', 'running']);
  await makeOld();
  await client.send(new PutItemCommand({ TableName, Item: { pk: { S: 'video_1' } } }));
  await expect(createTables(endpoint)).rejects.toThrow(
    'videos was created by an earlier version. Start once with --reset, which deletes the local data.',
  );
});
