import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type Environment, inherited } from './gateway-process.ts';

const program = join(import.meta.dirname, '../../bin/cli.ts');

export interface CliResult {
  readonly status: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run cli -- ...` as a program of its own, with these variables alone. What it does, it may do to this very process. */
export const runCli = (args: readonly string[], environment: Environment = {}): Promise<CliResult> =>
  new Promise((resolve) => {
    const env = { ...inherited(), ...environment };
    execFile(process.execPath, [program, ...args], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? 'killed') : 0, stdout, stderr }),
    );
  });
