import { createTables, localTableNames } from './create-tables.ts';
import { openDataFolder, resetDataFolder } from './data-folder.ts';
import { startDynamodb } from './dynamodb-stand-in.ts';
import { freePort } from './free-port.ts';
import { openLocalAccount } from './local-account.ts';
import { openHost, openMachine, startSweeping } from './local-functions.ts';
import { type LocalSettings, localVideoTimes } from './local-settings.ts';
import { openVendors } from './local-vendors.ts';
import { createMediaBucket, localMediaBucket, startS3 } from './s3-stand-in.ts';
import type { Welcome } from './welcome.ts';

const HOST = '127.0.0.1';
/** Requests under way may end before the end. */
const STOP_GRACE_MS = 3_000;

export interface LocalGateway {
  readonly welcome: Welcome;
  stop(): Promise<void>;
}

interface Options {
  readonly settings: LocalSettings;
  readonly reset: boolean;
  /** A part of it ended by itself: one line for a person. */
  readonly onFailure: (message: string) => void;
}

/** The whole service on this machine. What has been started when something fails is stopped again. */
export const startLocalGateway = async ({ settings, reset, onFailure }: Options): Promise<LocalGateway> => {
  const endings: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    if (reset) await resetDataFolder(settings.DATA_DIR);
    const folder = openDataFolder(settings.DATA_DIR);
    endings.push(() => folder.close());
    const endpoint = await openDatabase(settings, folder, onFailure, endings);
    const s3Endpoint = await openBucket(settings, folder, endings);
    const account = await openLocalAccount({
      endpoint,
      folder,
      apiKey: settings.LOCAL_API_KEY,
      balanceUsd: settings.LOCAL_BALANCE_USD,
    });
    const vendors = await openVendors(process.env);
    endings.push(vendors.stop);
    const port = settings.PORT || (await freePort());
    setEnvironment({ endpoint, s3Endpoint, pepper: account.pepper, port });
    const machine = await openMachine(onFailure);
    endings.push(machine.stop);
    Object.assign(process.env, { SFN_ENDPOINT: machine.endpoint, VIDEO_MACHINE_ARN: machine.machineArn });
    const host = await openHost(port, HOST, onFailure);
    endings.push(() => host.stop(STOP_GRACE_MS));
    endings.push(await startSweeping(settings.SWEEP_SECONDS * 1_000, onFailure));
    const welcome = {
      url: `http://${HOST}:${host.port}`,
      apiKey: account.apiKey,
      balanceUsd: account.balanceUsd,
      standIns: [
        database(settings, endpoint),
        bucket(settings, s3Endpoint),
        ['Step Functions', 'aws-local-stepfunctions; what had not ended is taken up again at the next start'] as const,
        ...vendors.standIns,
        ['Lambda', 'the same handlers behind node:http'] as const,
      ],
    };
    return { welcome, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const database = (settings: LocalSettings, endpoint: string) =>
  [
    'DynamoDB',
    settings.DYNAMODB_ENDPOINT ? `yours, at ${endpoint}` : `dynoxide, data in ${settings.DATA_DIR}`,
  ] as const;

const bucket = (settings: LocalSettings, endpoint: string) =>
  ['S3', settings.S3_ENDPOINT ? `yours, at ${endpoint}` : `s3rver, data in ${settings.DATA_DIR}`] as const;

type Endings = (() => Promise<void> | void)[];

const openDatabase = async (
  settings: LocalSettings,
  folder: ReturnType<typeof openDataFolder>,
  onExit: (message: string) => void,
  endings: Endings,
): Promise<string> => {
  if (settings.DYNAMODB_ENDPOINT) {
    await createTables(settings.DYNAMODB_ENDPOINT);
    return settings.DYNAMODB_ENDPOINT;
  }
  const standIn = await startDynamodb({ folder, onExit });
  endings.push(standIn.stop);
  return standIn.endpoint;
};

const openBucket = async (
  settings: LocalSettings,
  folder: ReturnType<typeof openDataFolder>,
  endings: Endings,
): Promise<string> => {
  if (settings.S3_ENDPOINT) {
    await createMediaBucket(settings.S3_ENDPOINT);
    return settings.S3_ENDPOINT;
  }
  const standIn = await startS3(folder);
  endings.push(standIn.stop);
  return standIn.endpoint;
};

interface Addresses {
  readonly endpoint: string;
  readonly s3Endpoint: string;
  readonly pepper: string;
  readonly port: number;
}

const setEnvironment = ({ endpoint, s3Endpoint, pepper, port }: Addresses): void => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    DYNAMODB_ENDPOINT: endpoint,
    ACCOUNTS_TABLE: localTableNames.accounts,
    KEYS_TABLE: localTableNames.keys,
    COUNTERS_TABLE: localTableNames.counters,
    IDEMPOTENCY_TABLE: localTableNames.idempotency,
    VIDEOS_TABLE: localTableNames.videos,
    S3_ENDPOINT: s3Endpoint,
    MEDIA_BUCKET: localMediaBucket,
    MEDIA_URL: process.env.MEDIA_URL || `http://${HOST}:${port}`,
    KEY_PEPPER: pepper,
    LOG_FORMAT: process.env.LOG_FORMAT || 'line',
    ...localVideoTimes(process.env),
  });
};
