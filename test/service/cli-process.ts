import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type Environment, inherited } from '../support/gateway-process.ts';

const programs = join(import.meta.dirname, '../../bin');

export interface CliResult {
  readonly status: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a file of `bin` as a separate program with only these environment variables. */
export const runBin = (file: string, args: readonly string[], environment: Environment = {}): Promise<CliResult> =>
  new Promise((resolve) => {
    const env = { ...inherited(), ...environment };
    execFile(process.execPath, [join(programs, file), ...args], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? 'killed') : 0, stdout, stderr }),
    );
  });

/** `npm run cli -- ...`. */
export const runCli = (args: readonly string[], environment?: Environment): Promise<CliResult> =>
  runBin('cli.ts', args, environment);
