import { Command } from 'commander';
import { exits, toEnding, whyOf } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** Creates a command that writes to the terminal and throws instead of ending the process. */
export const newCommand = (name: string, terminal: Terminal): Command =>
  new Command(name)
    .exitOverride()
    .showHelpAfterError('Use --help for usage.')
    .configureOutput({
      writeOut: (text) => void terminal.print(text).catch((error: unknown) => terminal.status(whyOf(error))),
      writeErr: (text) => terminal.status(text.trimEnd()),
    });

/** Returns the exit code. `args` come from the shell, without the name of the program. */
export const runCommand = async (program: Command, args: readonly string[], terminal: Terminal): Promise<number> => {
  try {
    await program.parseAsync(args, { from: 'user' });
    return exits.done;
  } catch (error) {
    const { exitCode, message } = toEnding(error);
    if (message !== undefined) terminal.status(message);
    return exitCode;
  }
};
