import { Command } from 'commander';
import { exits, toEnding, whyOf } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** It writes to the terminal, and throws instead of ending the process. */
export const newCommand = (name: string, terminal: Terminal): Command =>
  new Command(name)
    .exitOverride()
    .showHelpAfterError('(--help tells more)')
    .configureOutput({
      writeOut: (text) => void terminal.print(text).catch((error: unknown) => terminal.status(whyOf(error))),
      writeErr: (text) => terminal.status(text.trimEnd()),
    });

/** Answers the exit code; `args` as a shell gives them, without the program's own name. */
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
