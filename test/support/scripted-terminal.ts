import { runProgram } from '../../bin/program.ts';
import type { Environment, Terminal } from '../../bin/terminal.ts';

export interface TerminalRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly string[];
}

/**
 * Creates a terminal that records its output. With `answer` it is interactive and gives that answer to every question.
 */
export const scriptedTerminal = (environment: Environment = {}, answer?: boolean) => {
  const written = { stdout: '', stderr: '', asked: [] as string[] };
  const terminal: Terminal = {
    environment,
    isInteractive: answer !== undefined,
    print: async (text) => {
      written.stdout += text;
      return true;
    },
    status: (line) => {
      written.stderr += `${line}\n`;
    },
    style: (style, text) => (answer === undefined ? text : `<${style}>${text}</${style}>`),
    ask: async (question) => {
      written.asked.push(question);
      return answer ?? false;
    },
  };
  return { terminal, written };
};

/** Runs the program in this process. */
export const runHere = async (
  args: readonly string[],
  environment: Environment = {},
  answer?: boolean,
): Promise<TerminalRun> => {
  const { terminal, written } = scriptedTerminal(environment, answer);
  const status = await runProgram(args, terminal);
  return { status, ...written };
};
