import type { WriteOptions } from './command-options.ts';
import { failed } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** Asks for confirmation unless `--yes` is set. Throws a CliError if the user declines. */
export const confirmWrite = async (terminal: Terminal, { yes }: WriteOptions, question: string): Promise<void> => {
  if (yes || (await terminal.ask(question))) return;
  throw failed('Canceled. Nothing was changed.');
};

/** Reports on stderr that a dry run has ended. */
export const printDryRun = (terminal: Terminal): void => terminal.status('dry run: nothing was changed');
