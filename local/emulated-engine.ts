import { join } from 'node:path';
import type { FunctionDependencies } from '../lambdas/functions/wiring/dependencies.ts';
import { dependenciesFromEnvironment } from '../lambdas/functions/wiring/from-environment.ts';
import { createNoticesHandler } from '../lambdas/functions/wiring/notices-handler.ts';
import { readSettings } from '../lambdas/settings.ts';
import { type AccountChanges, followChanges } from './account-changes.ts';
import { createTables, localTableNames, type TableNames } from './create-tables.ts';
import type { DataFolder } from './data-folder.ts';
import { startDynamodb } from './emulators/dynamodb.ts';
import { fromStream } from './emulators/ledger-stream.ts';
import { createMediaBucket, localMediaBucket, startS3 } from './emulators/s3.ts';
import { startStepFunctions } from './emulators/step-functions.ts';
import type { Engine, EngineOptions } from './engine.ts';
import type { LocalSettings } from './local-settings.ts';
import { followStream } from './usage-stream.ts';
import { videoMachineOptions } from './video-executions.ts';
import type { Emulator } from './welcome.ts';

interface EmulatedOptions extends EngineOptions {
  readonly settings: LocalSettings;
}

interface Service {
  readonly endpoint: string;
  readonly emulator: Emulator;
  stop(): Promise<void>;
}

/**
 * Opens the deployed adapters on emulators of DynamoDB, S3 and Step Functions. Endpoints in the environment replace the
 * emulators of DynamoDB and S3.
 */
export const openEmulatedEngine = async (options: EmulatedOptions): Promise<Engine> => {
  const { folder, environment, onFailure } = options;
  const endings: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    const names = tableNamesOf(environment);
    const database = await openDatabase(options.settings, folder, names, onFailure);
    endings.push(database.stop);
    const bucket = await openBucket(options.settings, folder);
    endings.push(bucket.stop);
    let deps: FunctionDependencies | undefined;
    const settings = readSettings({ ...environment, ...toVariables(names) });
    const machine = await startStepFunctions(
      videoMachineOptions(
        settings,
        () => {
          if (!deps) throw new Error('a video step ran before the gateway was complete');
          return deps;
        },
        onFailure,
      ),
    );
    endings.push(machine.stop);
    const deployed = await dependenciesFromEnvironment({
      ...environment,
      AWS_REGION: 'us-east-1',
      DYNAMODB_ENDPOINT: database.endpoint,
      S3_ENDPOINT: bucket.endpoint,
      SFN_ENDPOINT: machine.endpoint,
      VIDEO_MACHINE_ARN: machine.machineArn,
      ...toVariables(names),
    });
    deps = { ...deployed, pages: options.pages.files, reporting: options.reporting, ...options.webhooks };
    return toEngine(options, { deps, database, bucket, endings, stop });
  } catch (error) {
    await stop();
    throw error;
  }
};

/** Restored tables replace the usual ones by the same variables as in AWS (docs/operations/restore.md). */
const tableNamesOf = ({ ACCOUNTS_TABLE, KEYS_TABLE, VIDEOS_TABLE }: EngineOptions['environment']): TableNames => ({
  ...localTableNames,
  ...(ACCOUNTS_TABLE && { accounts: ACCOUNTS_TABLE }),
  ...(KEYS_TABLE && { keys: KEYS_TABLE }),
  ...(VIDEOS_TABLE && { videos: VIDEOS_TABLE }),
});

const toVariables = (names: TableNames) => ({
  ACCOUNTS_TABLE: names.accounts,
  KEYS_TABLE: names.keys,
  COUNTERS_TABLE: names.counters,
  IDEMPOTENCY_TABLE: names.idempotency,
  VIDEOS_TABLE: names.videos,
  MEDIA_BUCKET: localMediaBucket,
});

interface Opened {
  readonly deps: FunctionDependencies;
  readonly database: Service;
  readonly bucket: Service;
  readonly endings: (() => Promise<void>)[];
  stop(): Promise<void>;
}

const toEngine = ({ folder, onFailure }: EmulatedOptions, opened: Opened): Engine => {
  const { deps, database, bucket, endings, stop } = opened;
  return {
    deps,
    emulators: [
      database.emulator,
      bucket.emulator,
      ['Step Functions', 'aws-local-stepfunctions; videos that had not ended are resumed at the next start'],
    ],
    follow: async ({ onChange, sendNotification, usage }) => {
      const { endpoint } = database;
      const table = deps.settings.ACCOUNTS_TABLE;
      const followed: AccountChanges = await followChanges({
        endpoint,
        table,
        // The position is useless without the database beside it.
        positionFile: join(folder.room('dynamodb'), 'changes-read.json'),
        onFailure,
      });
      endings.push(followed.stop);
      if (sendNotification) followed.subscribe(createNoticesHandler({ ...deps, sendNotification }));
      if (onChange) followed.subscribe(fromStream(onChange));
      if (!usage) return;
      const positionFile = join(folder.room('dynamodb'), 'usage-events-sent.json');
      const { reporting } = deps;
      endings.push(await followStream({ endpoint, table, positionFile }, { ...usage, reporting, onFailure }));
    },
    prune: async () => undefined,
    stop,
  };
};

/**
 * Starts the DynamoDB emulator, or uses the database at `DYNAMODB_ENDPOINT`. Creates the missing tables in both cases.
 */
const openDatabase = async (
  { DYNAMODB_ENDPOINT, DATA_DIR }: LocalSettings,
  folder: DataFolder,
  names: TableNames,
  onExit: (message: string) => void,
): Promise<Service> => {
  if (DYNAMODB_ENDPOINT) {
    await createTables(DYNAMODB_ENDPOINT, names);
    return ownService('DynamoDB', DYNAMODB_ENDPOINT);
  }
  const emulator = await startDynamodb({ folder, onExit });
  await createTables(emulator.endpoint, names);
  return { ...emulator, emulator: ['DynamoDB', `dynoxide, data in ${DATA_DIR}`] };
};

const openBucket = async ({ S3_ENDPOINT, DATA_DIR }: LocalSettings, folder: DataFolder): Promise<Service> => {
  if (S3_ENDPOINT) {
    await createMediaBucket(S3_ENDPOINT);
    return ownService('S3', S3_ENDPOINT);
  }
  const emulator = await startS3(folder);
  return { ...emulator, emulator: ['S3', `s3rver, data in ${DATA_DIR}`] };
};

const ownService = (name: string, endpoint: string): Service => ({
  endpoint,
  emulator: [name, `yours, at ${endpoint}`],
  stop: async () => undefined,
});
