import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { buildFiles, buildPages } from '../lib/pages/build-pages.ts';
import { type FollowOptions, followChanges } from './account-changes.ts';
import { localTableNames } from './create-tables.ts';
import { type DataFolder, openDataFolder, readOrCreateSecret, resetDataFolder } from './data-folder.ts';
import { freePort } from './free-port.ts';
import { openLocalAccount } from './local-account.ts';
import { toEnvironment } from './local-environment.ts';
import { loadNotices, openHost, openMachine, startSweeping } from './local-functions.ts';
import type { LocalSettings } from './local-settings.ts';
import { openBucket, openDatabase } from './local-stores.ts';
import { openVendors } from './local-vendors.ts';
import { createLocalPage, type LocalPage } from './page/local-page.ts';
import { openMessenger } from './page/open-messenger.ts';
import { putPages } from './put-pages.ts';
import type { StandIn, Welcome } from './welcome.ts';

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

type Endings = (() => Promise<unknown> | unknown)[];

/** The whole service on this machine. What has been started when something fails is stopped again. */
export const startLocalGateway = async (options: Options): Promise<LocalGateway> => {
  const endings: Endings = [];
  const stop = async (): Promise<void> => {
    for (const end of endings.splice(0).reverse()) await end();
  };
  try {
    return { welcome: await start(options, endings), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const start = async ({ settings, reset, onFailure }: Options, endings: Endings): Promise<Welcome> => {
  if (reset) await resetDataFolder(settings.DATA_DIR);
  const folder = openDataFolder(settings.DATA_DIR);
  endings.push(() => folder.close());
  const building = startBuilding();
  const database = await openDatabase(settings, folder, onFailure);
  endings.push(database.stop);
  const bucket = await openBucket(settings, folder);
  endings.push(bucket.stop);
  const account = await openLocalAccount({
    endpoint: database.endpoint,
    folder,
    apiKey: settings.LOCAL_API_KEY,
    balanceUsd: settings.LOCAL_BALANCE_USD,
  });
  const vendors = await openVendors(process.env);
  endings.push(vendors.stop);
  const messenger = await openMessenger(folder, process.env);
  endings.push(messenger.stop);
  const port = settings.PORT || (await freePort());
  const url = `http://${HOST}:${port}`;
  const topUpKey = process.env.TOP_UP_KEY || readOrCreateSecret(folder, 'top-up-key', newTopUpKey);
  const stores = { databaseEndpoint: database.endpoint, bucketEndpoint: bucket.endpoint };
  const parts = { url, ...stores, pepper: account.pepper, topUpKey, bot: messenger.environment };
  Object.assign(process.env, toEnvironment(process.env, parts));
  const { pages, localPage: files } = await building;
  await putPages(pages, bucket.endpoint);
  const { apiKey, isCurrent, balanceUsd } = account;
  const changes = changesOf(database.endpoint, folder);
  const page = createLocalPage({ port, apiKey, topUpKey, files, vendors, messenger: messenger.chat, onFailure });
  await openFunctions({ port, page, sweepSeconds: settings.SWEEP_SECONDS, changes }, onFailure, endings);
  messenger.connect(`${url}/bot`);
  const own = [database.standIn, bucket.standIn, machineStandIn, ...vendors.standIns, messenger.standIn, hostStandIn];
  return { url, apiKey, isCurrent, balanceUsd, standIns: own };
};

const machineStandIn: StandIn = [
  'Step Functions',
  'aws-local-stepfunctions; what had not ended is taken up again at the next start',
];
const hostStandIn: StandIn = ['Lambda', 'the same handlers behind node:http'];

const newTopUpKey = (): string => randomBytes(32).toString('hex');

/** Goes on while the stores are opened. Who fails before it is waited for says so. */
const startBuilding = () => {
  const building = Promise.all([buildPages(), buildFiles('web/local-page')]).then(([pages, localPage]) => ({
    pages,
    localPage,
  }));
  building.catch(() => undefined);
  return building;
};

/** How far the changes were read is of no use without the database that it stands beside. */
const changesOf = (endpoint: string, folder: DataFolder) => ({
  endpoint,
  table: localTableNames.accounts,
  positionFile: join(folder.room('dynamodb'), 'changes-read.json'),
});

interface Running {
  readonly port: number;
  readonly page: LocalPage;
  readonly sweepSeconds: number;
  readonly changes: Omit<FollowOptions, 'onFailure'>;
}

/** Everything that calls functions, in the order in which it is needed. */
const openFunctions = async (
  { port, page, sweepSeconds, changes }: Running,
  onFailure: Options['onFailure'],
  endings: Endings,
): Promise<void> => {
  const machine = await openMachine(onFailure);
  endings.push(machine.stop);
  Object.assign(process.env, { SFN_ENDPOINT: machine.endpoint, VIDEO_MACHINE_ARN: machine.machineArn });
  const host = await openHost({ port, address: HOST, beside: page.take }, onFailure);
  endings.push(() => host.stop(STOP_GRACE_MS));
  endings.push(await startSweeping(sweepSeconds * 1_000, onFailure));
  const followed = await followChanges({ ...changes, onFailure });
  endings.push(followed.stop);
  followed.subscribe(await loadNotices());
  followed.subscribe(page.takeChanges);
  endings.push(page.stop);
};
