import { styleText } from 'node:util';
import { failed, whyOf } from './exit.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Style = 'red' | 'green' | 'yellow' | 'bold';

/** Input and output of a command: those of its process or of a test. */
export interface Terminal {
  readonly environment: Environment;
  /** Whether a user can answer questions. */
  readonly isInteractive: boolean;
  /**
   * Writes data to stdout and waits for a slow reader. Resolves to false if the reader has left, as `head` does after
   * its first lines. Rejects with a CliError if stdout cannot be written.
   */
  print(text: string): Promise<boolean>;
  /** Writes a message line to stderr. */
  status(line: string): void;
  /** Colors text for stdout, if it is a terminal and NO_COLOR is not set. */
  style(style: Style, text: string): string;
  ask(question: string): Promise<boolean>;
}

export const processTerminal = (): Terminal => {
  const { stdin, stdout, stderr } = process;
  // The callback of `write` reports errors. Without this listener, they would also be thrown.
  stdout.on('error', () => undefined);
  return {
    environment: process.env,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    print: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => {
          if (error && !hasLeft(error)) reject(failed(`stdout: cannot be written: ${whyOf(error)}`, error));
          else resolve(!error);
        });
      }),
    status: (line) => void stderr.write(`${line}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout }),
    ask: async (question) => {
      const { confirm } = await import('@clack/prompts');
      // A canceled question returns a symbol.
      return (await confirm({ message: question, initialValue: false, output: stderr })) === true;
    },
  };
};

const hasLeft = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
