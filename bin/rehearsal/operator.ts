import type { TableNames } from '../../local/create-tables.ts';
import { runProgram } from '../program.ts';
import { openStores, type Stores } from '../stores.ts';
import type { Terminal } from '../terminal.ts';

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
