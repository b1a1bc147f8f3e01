import { join } from 'node:path';
import { StoreError } from '../lambdas/core/errors/store-error.ts';
import { hasRoom, openDataFolder } from '../local/data-folder.ts';
import { hasDynamodbData, runningDynamodb, startDynamodb } from '../local/emulators/dynamodb.ts';
import { BucketError } from './bucket.ts';
import { failed, whyOf } from './exit.ts';
import { readStack } from './place-stack.ts';
import { openEmbedded, openStores, type Stores } from './stores.ts';
import type { Environment, Terminal } from './terminal.ts';

export interface PlaceOptions {
  readonly env?: string;
  /** Name of the accounts table. */
  readonly table?: string;
  readonly endpoint?: string;
}

/** Gateway that a command works on. */
export interface Place {
  /** Description in one line for the operator. */
  readonly where: string;
  /** Whether the gateway runs on this machine instead of in AWS. */
  readonly isLocal: boolean;
  /** Known settings, by the variable names of the functions. */
  readonly environment: Environment;
  /** Data folder of the local gateway, even if the command does not use it. */
  readonly dataFolder: string;
  readonly stores: Stores;
  close(): Promise<void>;
}

/** Whether this is a self-hosted gateway in production: it simulates no provider and generates no secret. */
export const isProductionHost = ({ environment, isLocal }: Place): boolean =>
  isLocal && environment.MODE === 'production';

/**
 * Prints on stderr which gateway a command uses, and runs the command on it. A failed store call becomes a CliError
 * that names the store.
 */
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
    throw failed(`${where} did not respond: ${whyOf(error)}. Run the same command again.`, error);
  } finally {
    await place.close();
  }
};

/**
 * Opens the environment of `--env`, else the stores that variables name, else the local gateway's data folder. If the
 * folder needs a DynamoDB emulator and none is running, one runs until `close`. Throws a CliError.
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
      `${path}: contains no database of a local gateway. Set DATA_DIR or ACCOUNTS_TABLE, or choose an environment with --env.`,
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

/** Returns the path of a secret in the local gateway's data folder. */
export const localSecretPath = ({ dataFolder }: Place, name: string): string => join(dataFolder, 'secrets', name);
