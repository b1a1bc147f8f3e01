import { newRequestId, systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { localTableNames, type TableNames } from '../../local/create-tables.ts';
import { runningDynamodb } from '../../local/emulators/dynamodb.ts';
import { startLocalGateway } from '../../local/gateway.ts';
import { readLocalSettings } from '../../local/local-settings.ts';
import { runProgram } from '../program.ts';
import { openStores, type Stores } from '../stores.ts';
import type { Terminal } from '../terminal.ts';
import type { Customer } from './traffic.ts';

/** Account that the local gateway opens. */
export const ACCOUNT_ID = 'local';
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

interface Place {
  readonly endpoint: string;
  readonly folder: string;
  readonly names: TableNames;
}

const environmentOf = ({ endpoint, folder, names }: Place) => ({
  DYNAMODB_ENDPOINT: endpoint,
  DATA_DIR: folder,
  ACCOUNTS_TABLE: names.accounts,
  KEYS_TABLE: names.keys,
  VIDEOS_TABLE: names.videos,
});

/** Runs an operator command as the command line does. Returns its exit code and its result. */
export const runCommand = async (
  place: Place,
  ...args: readonly string[]
): Promise<{ readonly exitCode: number; readonly result: string }> => {
  let result = '';
  const terminal: Terminal = {
    environment: environmentOf(place),
    isInteractive: false,
    print: async (text) => {
      result += text;
      return true;
    },
    status: () => undefined,
    style: (_, text) => text,
    ask: async () => false,
  };
  const exitCode = await runProgram(args, terminal);
  return { exitCode, result: result.trim() };
};

/** Runs work on the stores of a place. */
export const onStores = async <T>(place: Place, work: (stores: Stores) => Promise<T>): Promise<T> => {
  const stores = openStores({ environment: environmentOf(place), isLocal: true, dataFolder: place.folder });
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
};

/** Charge of a request whose response is sent and whose charge is not recorded yet. */
export const CHARGED_PICOS = 400_000n;
const HELD_PICOS = 1_000_000n;
const HOUR_MS = 3_600_000;

/** Places the hold of a request. Returns the outbox entry that its charge becomes if the table does not confirm it. */
export const placeHold = async (stores: Stores) => {
  const requestId = newRequestId();
  const holdId = `${requestId}.0`;
  const expiresAtMs = systemClock.now() + HOUR_MS;
  const hold = { amountPicos: HELD_PICOS, expiresAtMs, sweepAtMs: expiresAtMs, previousHoldId: undefined };
  const { kind } = await stores.ledger.hold({ accountId: ACCOUNT_ID, holdId, ...hold });
  if (kind !== 'held') throw new Error(`The hold was not placed: ${kind}.`);
  const record = { accountId: ACCOUNT_ID, holdId, requestId, amountPicos: CHARGED_PICOS, at: systemClock.now() };
  return { record: { ...record, outcome: 'settled' as const }, holdAmountPicos: HELD_PICOS };
};
