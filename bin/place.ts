import { join } from 'node:path';
import { StoreError } from '../lambdas/core/errors/store-error.ts';
import type { EnvironmentName } from '../lib/environments.ts';
import { hasRoom, openDataFolder } from '../local/data-folder.ts';
import { hasDynamodbData, runningDynamodb, startDynamodb } from '../local/emulators/dynamodb.ts';
import { BucketError } from './bucket.ts';
import { failed, whyOf } from './exit.ts';
import { readStack } from './place-stack.ts';
import { openEmbedded, openStores, type Stores } from './stores.ts';
import type { Environment, Terminal } from './terminal.ts';

export interface PlaceOptions {
  readonly env?: EnvironmentName;
  /** Of the accounts. */
  readonly table?: string;
  readonly endpoint?: string;
}

/** The gateway that a command is about. */
export interface Place {
  /** One line for a person. */
  readonly where: string;
  /** A deployed one, or one of this machine. */
  readonly isLocal: boolean;
  /** By the names that the functions know them by, as far as they are known. */
  readonly environment: Environment;
  /** Of the local gateway, whether it is used or not. */
  readonly dataFolder: string;
  readonly stores: Stores;
  close(): Promise<void>;
}

/** Whether the place is a host of its own, which simulates nothing and makes no secrets. */
export const isProductionHost = ({ environment, isLocal }: Place): boolean =>
  isLocal && environment.MODE === 'production';

/** Runs a command at its place, says on stderr where that is, and names what did not answer. */
export const atPlace = async <T>(
  terminal: Terminal,
  options: PlaceOptions,
  work: (place: Place) => Promise<T>,
): Promise<T> => {
  const place = await openPlace(options, terminal);
  try {
    terminal.status(place.where);
    return await work(place);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const where = error instanceof BucketError ? error.where : place.where;
    throw failed(`${where} did not answer: ${whyOf(error)}`, error);
  } finally {
    await place.close();
  }
};

/**
 * Opens the environment of `--env`, or else what the variables name, or else the local gateway's data folder. A DynamoDB emulator
 * that the folder needs and that does not run is started until `close`.
 */
export const openPlace = async (options: PlaceOptions, { environment, status }: Terminal): Promise<Place> => {
  const named = { ...environment, ...(options.env && (await readStack(options.env))) };
  const endpoint = options.endpoint || named.DYNAMODB_ENDPOINT;
  const table = options.table || named.ACCOUNTS_TABLE;
  const dataFolder = environment.DATA_DIR || '.local';
  const known = { ...named, DYNAMODB_ENDPOINT: endpoint, ACCOUNTS_TABLE: table };
  if (endpoint || table) return connect(known, dataFolder, options.env !== undefined);
  return openLocal(known, dataFolder, status);
};

const connect = (
  environment: Environment,
  dataFolder: string,
  isDeployed: boolean,
  alsoClose: () => Promise<void> = async () => undefined,
): Place => {
  const { DYNAMODB_ENDPOINT: endpoint } = environment;
  const isLocal = endpoint !== undefined && !isDeployed;
  const stores = openStores({ environment, isLocal, dataFolder });
  return {
    where: `table ${stores.aws?.table('accounts')}${endpoint === undefined ? '' : ` at ${endpoint}`}`,
    isLocal,
    environment,
    dataFolder,
    stores,
    close: async () => {
      await stores.close();
      await alsoClose();
    },
  };
};

const openLocal = async (environment: Environment, path: string, tell: Terminal['status']): Promise<Place> => {
  const at = (endpoint: string): Environment => ({ ...environment, DYNAMODB_ENDPOINT: endpoint });
  const running = runningDynamodb(path);
  if (running !== undefined) return connect(at(running), path, false);
  if (hasRoom(path, 'database')) {
    return {
      where: `database in ${path}`,
      isLocal: true,
      environment,
      dataFolder: path,
      ...(await openedEmbedded(path)),
    };
  }
  if (!hasDynamodbData(path)) {
    throw failed(
      `${path} holds no database of a local gateway. Name its folder by DATA_DIR, a deployed one by --env, or a table by ACCOUNTS_TABLE.`,
    );
  }
  const folder = openDataFolder(path);
  try {
    const database = await startDynamodb({ folder, onExit: tell });
    return connect(at(database.endpoint), path, false, async () => {
      await database.stop();
      folder.close();
    });
  } catch (error) {
    folder.close();
    throw error;
  }
};

const openedEmbedded = async (path: string): Promise<Pick<Place, 'stores' | 'close'>> => {
  const stores = await openEmbedded(path);
  return { stores, close: stores.close };
};

/** Where the local gateway keeps one of its secrets. */
export const localSecretPath = ({ dataFolder }: Place, name: string): string => join(dataFolder, 'secrets', name);
