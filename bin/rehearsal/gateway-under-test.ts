import { localTableNames, type TableNames } from '../../local/create-tables.ts';
import { runningDynamodb } from '../../local/emulators/dynamodb.ts';
import { startLocalGateway } from '../../local/gateway.ts';
import { readLocalSettings } from '../../local/local-settings.ts';
import type { Customer } from './traffic.ts';

export const START_BALANCE_USD = '100';

/** Names of the tables that the rehearsal restores into. */
export const restoredNames: TableNames = {
  ...localTableNames,
  accounts: 'accounts-restored',
  keys: 'keys-restored',
  videos: 'videos-restored',
};

export interface RunningGateway {
  readonly customer: Customer;
  /** Endpoint of the database emulator. */
  readonly endpoint: string;
  /** Everything that the gateway has logged. */
  log(): string;
  stop(): Promise<void>;
}

/** Starts a gateway with the deployed stores, on emulators, with its workers every second. */
export const startGateway = async (folder: string, names: TableNames): Promise<RunningGateway> => {
  let log = '';
  const write = (text: string): void => {
    log += text;
  };
  const environment = {
    DATA_DIR: folder,
    PORT: '0',
    SWEEP_SECONDS: '1',
    LOCAL_BALANCE_USD: START_BALANCE_USD,
    LIMIT_KEY_PER_SECOND: '1000',
    LIMIT_KEY_BURST: '1000',
    LIMIT_ADDRESS_PER_SECOND: '1000',
    LIMIT_ADDRESS_BURST: '1000',
    ACCOUNTS_TABLE: names.accounts,
    KEYS_TABLE: names.keys,
    VIDEOS_TABLE: names.videos,
  };
  const gateway = await startLocalGateway({
    settings: readLocalSettings(environment),
    environment,
    store: 'dynamodb',
    reset: false,
    output: { stdout: { write }, stderr: { write } },
  });
  const { url, account } = gateway.welcome;
  const endpoint = runningDynamodb(folder);
  if (!account || !endpoint) throw new Error(`The gateway in ${folder} has no account or no database.`);
  return { customer: { url, apiKey: account.apiKey }, endpoint, log: () => log, stop: gateway.stop };
};
