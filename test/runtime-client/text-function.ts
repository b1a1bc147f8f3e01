import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { bundling } from '../../lib/constructs/bundled-code.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import { localMediaBucket } from '../../local/emulators/s3.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { openDynamodbAccount } from '../support/dynamodb-account.ts';
import { startTestBucket } from '../support/fault-proxy-bucket.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { environmentFor } from '../support/program.ts';
import { type RuntimeApi, startRuntimeApi } from './runtime-api.ts';

export const ACCOUNT = 'local';

export interface TextFunction {
  readonly api: RuntimeApi;
  readonly vendor: Simulator;
  readonly apiKey: string;
  readonly ledger: ReturnType<typeof createLedgerStore>;
  readonly records: ReturnType<typeof createLedgerRecords>;
  readonly pid: number;
  /** Everything that the function has written. */
  output(): string;
  running(): boolean;
  stop(): Promise<void>;
}

export interface FunctionHost {
  /** Memory that the function believes it has, in MB. */
  readonly memoryMb?: number;
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Program with arguments that replaces itself with the command after them. */
  readonly launcher?: readonly string[];
}

/**
 * Runs the asset as it is deployed, in a folder without parent packages, under AWS's runtime, with fakes of its
 * services.
 */
export const startTextFunction = async (
  clientEntry: string,
  { memoryMb = 1_024, flags = [], launcher = [] }: FunctionHost = {},
): Promise<TextFunction> => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-runtime-'));
  const task = join(root, 'task');
  const { bundling: made } = bundling('text', { entry: 'lambdas/functions/text.ts' });
  if (!made?.local?.tryBundle(join(root, 'asset'), { image: made.image })) throw new Error('text was not bundled');
  cpSync(join(root, 'asset'), task, { recursive: true });
  const folder = openDataFolder(join(root, 'data'));
  const [database, bucket, vendor, api] = await Promise.all([
    startTestDynamodb(),
    startTestBucket(),
    startSimulator(),
    startRuntimeApi(),
  ]);
  const { endpoint } = database;
  const { apiKey, pepper } = await openDynamodbAccount(endpoint, folder, '10');
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  const [program = '', ...args] = [...launcher, process.execPath, ...flags, clientEntry, 'index.handler'];
  const child = spawn(program, args, {
    cwd: task,
    env: {
      ...{ PATH: process.env.PATH, AWS_REGION: 'us-east-1', AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
      ...{ AWS_LAMBDA_RUNTIME_API: api.address, LAMBDA_TASK_ROOT: task, _HANDLER: 'index.handler' },
      ...{
        AWS_LAMBDA_FUNCTION_NAME: 'text',
        AWS_LAMBDA_FUNCTION_VERSION: '1',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
      },
      ...{ AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/text', AWS_LAMBDA_LOG_STREAM_NAME: 'one' },
      ...environmentFor(folder.path, vendor.url),
      ...unlimited,
      ...{ DYNAMODB_ENDPOINT: endpoint, S3_ENDPOINT: bucket.endpoint, MEDIA_BUCKET: localMediaBucket },
      ...Object.fromEntries(Object.entries(localTableNames).map(([name, table]) => [tableVariable(name), table])),
      ...{ KEY_PEPPER: pepper, MEDIA_URL: 'https://media.example', LOG_FORMAT: 'json' },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = keepOutput(child);
  return {
    ...{ api, vendor, apiKey },
    ledger: createLedgerStore(createDatabases({ once: client, repeating: client }), localTableNames.accounts),
    records: createLedgerRecords(createDynamoDB(client, Date.now), localTableNames.accounts),
    pid: child.pid ?? 0,
    output: () => written.join(''),
    running: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      await ended(child);
      client.destroy();
      await Promise.all([api.stop(), vendor.stop(), bucket.stop(), database.stop()]);
      folder.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
};

const tableVariable = (name: string): string => `${name.toUpperCase()}_TABLE`;

const keepOutput = ({ stdout, stderr }: ChildProcess): readonly string[] => {
  const written: string[] = [];
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (text: string) => written.push(text));
  return written;
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await end;
};
