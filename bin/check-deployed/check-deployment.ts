import { setDefaultResultOrder } from 'node:dns';
import { Argument } from 'commander';
import { runSteps, type StepResult } from '../../lambdas/checks/deployment-steps.ts';
import { checkAccounts } from '../../lambdas/core/accounts/check-account.ts';
import { guardAccount } from '../caller.ts';
import { newCommand, runCommand } from '../command-line.ts';
import { withJson } from '../command-options.ts';
import { environmentNames } from '../config.ts';
import { failed, unsatisfied } from '../exit.ts';
import { plain, printJson } from '../output.ts';
import { atPlace } from '../place.ts';
import type { Style, Terminal } from '../terminal.ts';
import { ensureCanaryKey } from './canary-key.ts';
import { withCheckKey } from './check-key.ts';
import { readTarget } from './check-target.ts';

export interface CheckOptions {
  /** Whether to make the streamed chat completion, which costs money. */
  readonly stream?: true;
  readonly json?: true;
}

/** Inputs of the process that a test replaces. */
export interface CheckDependencies {
  readonly send: typeof fetch;
  readonly interrupts: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

/** Signals that end the check early. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const ofProcess: CheckDependencies = { send: fetch, interrupts: process };

/** Returns the exit code. `args` come from the shell, without the name of the program. */
export const runCheck = (
  args: readonly string[],
  terminal: Terminal,
  dependencies: CheckDependencies = ofProcess,
): Promise<number> => {
  const program = withJson(newCommand('check:deployed', terminal))
    .description('send requests to a deployed environment and check the responses; exit 1 on a failure')
    .addArgument(new Argument('<environment>', 'name of the environment').choices(environmentNames))
    .option('--stream', 'also make a streamed chat completion of the cheapest model, for less than 0.01 USD')
    .action(async (name: string, options: CheckOptions) => {
      await guardAccount(name, terminal);
      await checkDeployment(terminal, name, options, dependencies);
    });
  return runCommand(program, args, terminal);
};

/**
 * Runs the steps with an API key that is revoked afterwards, also after an interrupt, and prints one line for each.
 * Throws a CliError if a step failed.
 */
export const checkDeployment = async (
  terminal: Terminal,
  name: string,
  options: CheckOptions = {},
  { send, interrupts }: CheckDependencies = ofProcess,
): Promise<void> => {
  // The source of the own address knows IPv4 only, so the steps use it where they can.
  setDefaultResultOrder('ipv4first');
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  for (const signal of signals) interrupts.on(signal, stop);
  try {
    const results = await atPlace(terminal, { env: name }, async (place) => {
      const target = await readTarget(place, name, { stream: options.stream === true, send });
      await ensureCanaryKey(place, terminal);
      return withCheckKey(place, checkAccounts.deployment, (apiKey) =>
        collect(terminal, options, runSteps({ ...target, apiKey, signal: interrupt.signal })),
      );
    });
    const isWell = results.every(({ status }) => status !== 'failed');
    if (options.json) await printJson(terminal, { ok: isWell && !interrupt.signal.aborted, steps: results });
    if (interrupt.signal.aborted) throw failed('Interrupted. The API key of the check is revoked.');
    if (!isWell) throw unsatisfied();
  } finally {
    for (const signal of signals) interrupts.off(signal, stop);
  }
};

const collect = async (
  terminal: Terminal,
  { json }: CheckOptions,
  running: AsyncIterable<StepResult>,
): Promise<readonly StepResult[]> => {
  const results: StepResult[] = [];
  for await (const result of running) {
    results.push(result);
    if (!json) await terminal.print(toLine(result, terminal));
  }
  return results;
};

const styles: Readonly<Record<StepResult['status'], Style>> = { ok: 'green', skipped: 'yellow', failed: 'red' };

const toLine = ({ name, status, ms, detail }: StepResult, { style }: Terminal): string =>
  `${style(styles[status], status.padEnd(7))}  ${name.padEnd(13)}  ${`${ms} ms`.padStart(9)}  ${plain(detail)}\n`;
