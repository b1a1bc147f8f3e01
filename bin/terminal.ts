import { styleText } from 'node:util';
import { failed, whyOf } from './exit.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Style = 'red' | 'green' | 'yellow' | 'bold';

/** Where a command reads and writes: its process, or a test. */
export interface Terminal {
  readonly environment: Environment;
  /** Somebody is there who can be asked. */
  readonly isInteractive: boolean;
  /**
   * Data, to stdout. Waits for a reader who is slow. False for one who has left: whoever wanted the first lines only, as `head` does,
   * has them. Throws a CliError where nothing can be written.
   */
  print(text: string): Promise<boolean>;
  /** Talk: a line to stderr. */
  status(line: string): void;
  /** Colour for stdout, where it is a terminal and nobody has set NO_COLOR. */
  style(style: Style, text: string): string;
  ask(question: string): Promise<boolean>;
}

export const processTerminal = (): Terminal => {
  const { stdin, stdout, stderr } = process;
  // Whoever prints is told; nobody else is to be.
  stdout.on('error', () => undefined);
  return {
    environment: process.env,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    print: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => {
          if (error && !hasLeft(error))
            reject(failed(`What there is to tell cannot be written to stdout: ${whyOf(error)}`, error));
          else resolve(!error);
        });
      }),
    status: (line) => void stderr.write(`${line}\n`),
    style: (style, text) => styleText(style, text, { stream: stdout }),
    ask: async (question) => {
      const { confirm } = await import('@clack/prompts');
      // A cancelled question answers a symbol.
      return (await confirm({ message: question, initialValue: false, output: stderr })) === true;
    },
  };
};

const hasLeft = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
