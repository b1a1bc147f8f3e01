import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { DescribeExecutionCommand, ListExecutionsCommand, SFNClient } from '@aws-sdk/client-sfn';
import { createS3Client } from '../../../lambdas/functions/wiring/clients.ts';
import { localDynamodbConfig, localTableNames } from '../../../local/create-tables.ts';
import { localMediaBucket } from '../../../local/emulators/s3.ts';
import { localMachineArn } from '../../../local/emulators/step-functions.ts';

/** Stored data of one kind. */
export interface Kept {
  readonly kind: string;
  readonly text: string;
}

/** Bytes are read as Latin-1, whatever they contain. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) =>
    inner instanceof Uint8Array ? Buffer.from(inner).toString('latin1') : inner,
  );

/** Reads every item of every table. */
export const keptInTables = async (endpoint: string): Promise<readonly Kept[]> => {
  const client = new DynamoDBClient({ ...localDynamodbConfig(endpoint), maxAttempts: 8 });
  const kept: Kept[] = [];
  for (const [name, TableName] of Object.entries(localTableNames))
    for await (const { Items = [] } of paginateScan({ client }, { TableName }))
      kept.push(...Items.map((item) => ({ kind: `table ${name}`, text: toText(item) })));
  client.destroy();
  return kept;
};

/** Reads every object of the bucket, by the first part of its name. Names and content types are included. */
export const keptInBucket = async (endpoint: string): Promise<readonly Kept[]> => {
  const client = await createS3Client({ endpoint, region: 'us-east-1' });
  const kept: Kept[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: localMediaBucket }))
    for (const { Key = '' } of Contents) {
      const response = await fetch(`${endpoint}/${localMediaBucket}/${Key}`);
      const bytes = Buffer.from(await response.arrayBuffer()).toString('latin1');
      kept.push({ kind: `bucket ${Key.split('/')[0]}/`, text: `${Key} ${toText([...response.headers])} ${bytes}` });
    }
  client.destroy();
  return kept;
};

const LISTENING = '0A';

/** Lists the ports on which a program listens. Linux identifies each socket by its inode. */
const portsOf = (pid: number): readonly number[] => {
  const folder = `/proc/${pid}/fd`;
  const inodes = new Set(
    readdirSync(folder).map((name) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${name}`))?.[1];
      } catch {
        // The process closed this file in the meantime.
        return undefined;
      }
    }),
  );
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === LISTENING && inodes.has(inode))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16));
};

/** Reads all executions of the state machine. It runs within the program, on an unpublished port. */
export const keptInMachine = async (pid: number): Promise<readonly Kept[]> => {
  for (const port of portsOf(pid)) {
    const client = new SFNClient({
      ...{ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', maxAttempts: 1 },
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    try {
      const list = new ListExecutionsCommand({ stateMachineArn: localMachineArn, maxResults: 1_000 });
      const { executions } = await client.send(list);
      if (!executions) continue;
      const described = executions.map(({ executionArn }) =>
        client.send(new DescribeExecutionCommand({ executionArn })),
      );
      return (await Promise.all(described)).map((execution) => ({ kind: 'machine', text: toText(execution) }));
    } catch {
      // The port belongs to another server of the program.
    } finally {
      client.destroy();
    }
  }
  throw new Error('the state machine was not found');
};
