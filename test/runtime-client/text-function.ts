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

/** Fakes of the services that functions use, with a funded account. */
export interface Services {
  readonly vendor: Simulator;
  readonly apiKey: string;
  readonly ledger: ReturnType<typeof createLedgerStore>;
  readonly records: ReturnType<typeof createLedgerRecords>;
  /** Settings of a function that uses these services. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const startServices = async (): Promise<Services> => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-services-'));
  const folder = openDataFolder(root);
  const [database, bucket, vendor] = await Promise.all([startTestDynamodb(), startTestBucket(), startSimulator()]);
  const { endpoint } = database;
  const { apiKey, pepper } = await openDynamodbAccount(endpoint, folder, '10');
  const client = new DynamoDBClient(localDynamodbConfig(endpoint));
  return {
    ...{ vendor, apiKey },
    ledger: createLedgerStore(createDatabases({ once: client, repeating: client }), localTableNames.accounts),
    records: createLedgerRecords(createDynamoDB(client, Date.now), localTableNames.accounts),
    environment: {
      ...environmentFor(folder.path, vendor.url),
      ...unlimited,
      ...{ DYNAMODB_ENDPOINT: endpoint, S3_ENDPOINT: bucket.endpoint, MEDIA_BUCKET: localMediaBucket },
      ...Object.fromEntries(Object.entries(localTableNames).map(([name, table]) => [tableVariable(name), table])),
      ...{ KEY_PEPPER: pepper, MEDIA_URL: 'https://media.example', LOG_FORMAT: 'json' },
    },
    stop: async () => {
      client.destroy();
      await Promise.all([vendor.stop(), bucket.stop(), database.stop()]);
      folder.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
};

/** Bundles the asset of the function `text` into the folder. */
export const bundleText = (folder: string): void => {
  const { bundling: made } = bundling('text', { entry: 'lambdas/functions/text.ts' });
  if (!made?.local?.tryBundle(folder, { image: made.image })) throw new Error('text was not bundled');
};

/** Program that runs the code in a folder under AWS's runtime. */
export interface Runtime {
  readonly clientEntry: string;
  /** Folder of the function's code. */
  readonly task: string;
  readonly services: Services;
  readonly host?: FunctionHost;
}

/** Starts the function and returns before it is ready. */
export const runFunction = async ({ clientEntry, task, services, host = {} }: Runtime): Promise<TextFunction> => {
  const { memoryMb = 1_024, flags = [], launcher = [] } = host;
  const api = await startRuntimeApi();
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
      ...services.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = keepOutput(child);
  return {
    ...{ api, vendor: services.vendor, apiKey: services.apiKey, ledger: services.ledger, records: services.records },
    pid: child.pid ?? 0,
    output: () => written.join(''),
    running: () => child.exitCode === null && child.signalCode === null,
    stop: async () => {
      await ended(child);
      await api.stop();
    },
  };
};

/**
 * Runs the asset as it is deployed, in a folder without parent packages, under AWS's runtime, with fakes of its
 * services.
 */
export const startTextFunction = async (clientEntry: string, host: FunctionHost = {}): Promise<TextFunction> => {
  const root = mkdtempSync(join(tmpdir(), 'gateway-runtime-'));
  const task = join(root, 'task');
  bundleText(join(root, 'asset'));
  cpSync(join(root, 'asset'), task, { recursive: true });
  const services = await startServices();
  const started = await runFunction({ clientEntry, task, services, host });
  return {
    ...started,
    stop: async () => {
      await started.stop();
      await services.stop();
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
