import type { WriteOptions } from './command-options.ts';
import { failed } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** Asks, unless `--yes` says that nobody is to be asked. Throws when the answer is no. */
export const confirmWrite = async (terminal: Terminal, { yes }: WriteOptions, question: string): Promise<void> => {
  if (yes || (await terminal.ask(question))) return;
  throw failed('Nothing was changed.');
};

/** What `--dry-run` ends with. */
export const printDryRun = (terminal: Terminal): void => terminal.status('dry run: nothing was changed');
