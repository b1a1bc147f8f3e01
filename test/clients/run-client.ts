import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { makeApiKey } from '../../lambdas/core/accounts/keys.ts';
import { type CommandLine, platformName } from './cli/command-line.ts';
import { type Case, type Client, type Expectation, type ScenarioName, scenariosOf } from './client.ts';
import { type ClientProgram, type Job, startProgram } from './client-program.ts';
import { commandLineProgram } from './command-line-program.ts';
import type { Gateway } from './gateway.ts';
import { InstallError } from './install.ts';
import { isAnswerCall, judge, type Verdict } from './judge.ts';
import { type Call, type CallProxy, startProxy } from './proxy.ts';

export interface Result {
  readonly client: Client;
  readonly route: Case['route'];
  readonly model: string;
  readonly scenario: ScenarioName;
  readonly verdict: Verdict | { readonly outcome: 'skip'; readonly reason: string };
}

export interface ClientRun {
  readonly client: Client;
  readonly gateway: Gateway;
  /** Folder of the installed pins. */
  readonly installed: string;
  /** Key of an account that cannot pay a request. */
  readonly poorKey: string;
  /** Prompt of the tool scenarios. Default: the prompt in the client programs, which leads to one call. */
  readonly weatherPrompt?: string | undefined;
  /** Whether the time is up. The remaining scenarios are skipped. */
  isOver(): boolean;
  onResult(result: Result, calls: readonly Call[]): void;
}

const BALANCE_USD = '100000';
const SCENARIO_LIMIT_MS = 60_000;

/** Clients reach this machine only. Their telemetry and update checks fail to connect. */
const offline = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
};

/** Runs every scenario of a client, one after the other, on an account of its own. */
export const runClient = async (options: ClientRun): Promise<void> => {
  const { client, gateway } = options;
  const key = await gateway.openAccount(client.id, BALANCE_USD);
  const proxy = await startProxy(gateway.url);
  const folder = mkdtempSync(join(tmpdir(), `gateway-client-${client.id}-`));
  let program: ClientProgram | undefined;
  try {
    program = await startClient(options, { folder, url: proxy.url, key });
    for (const row of client.cases) {
      for (const [scenario, expectation] of scenariosOf(row)) {
        const { route, model } = row;
        if (options.isOver()) {
          options.onResult(
            { client, route, model, scenario, verdict: { outcome: 'skip', reason: 'the time is up' } },
            [],
          );
          continue;
        }
        const job: Job = { scenario, route, model, ...otherKey(scenario, options.poorKey) };
        const { verdict, calls } = await runScenario(options, { program, proxy, key, job, expectation });
        options.onResult({ client, route, model, scenario, verdict }, calls);
      }
    }
  } finally {
    await program?.stop();
    await proxy.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

const otherKey = (scenario: ScenarioName, poorKey: string): Pick<Job, 'key'> => {
  if (scenario === 'error_401') return { key: makeApiKey(randomBytes(32)) };
  return scenario === 'error_402' ? { key: poorKey } : {};
};

interface Run {
  readonly program: ClientProgram;
  readonly proxy: CallProxy;
  readonly key: string;
  readonly job: Job;
  readonly expectation: Expectation;
}

const runScenario = async (
  { client, gateway }: ClientRun,
  { program, proxy, key, job, expectation }: Run,
): Promise<{ readonly verdict: Verdict; readonly calls: readonly Call[] }> => {
  const before = await gateway.settledBalance(key);
  const report = await program.run(job);
  const calls = await proxy.take();
  const spent = before - (await gateway.settledBalance(key));
  const receipts = await sumOf(gateway, key, calls);
  return { verdict: judge(client, job.scenario, expectation, { report, calls, receipts, spent }), calls };
};

const sumOf = async (gateway: Gateway, key: string, calls: readonly Call[]): Promise<bigint | undefined> => {
  const answered = calls.filter((call) => isAnswerCall(call) && call.status === 200);
  const charges = await Promise.all(answered.map(({ requestId }) => requestId && gateway.chargeOf(key, requestId)));
  return charges.reduce<bigint | undefined>(
    (sum, charge) => (sum === undefined || typeof charge !== 'bigint' ? undefined : sum + charge),
    0n,
  );
};

interface Access {
  readonly folder: string;
  readonly url: string;
  readonly key: string;
}

const startClient = async (
  { client, installed, weatherPrompt }: ClientRun,
  { folder, url, key }: Access,
): Promise<ClientProgram> => {
  const home = join(folder, 'home');
  mkdirSync(home);
  const env = {
    ...offline,
    ...(weatherPrompt && { WEATHER_PROMPT: weatherPrompt }),
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: folder,
    GATEWAY_URL: url,
    GATEWAY_KEY: key,
  };
  const source = join(import.meta.dirname, client.program);
  const common = { env, limitMs: SCENARIO_LIMIT_MS };
  if (client.program.startsWith('cli/')) {
    const { commandLine }: { commandLine: CommandLine } = await import(source);
    if (!existsSync(commandLine.program(installed))) throw new InstallError(`no program for ${platformName()}`);
    return commandLineProgram({ ...common, commandLine, installed, folder, url });
  }
  // Copies the program into a temporary folder, where it can load the installed packages but not those of the
  // repository.
  cpSync(dirname(source), folder, { recursive: true });
  const program = join(folder, basename(client.program));
  if (client.install.kind === 'venv') {
    return startProgram({ ...common, cwd: folder, command: [join(installed, 'venv/bin/python'), program] });
  }
  if (client.install.kind === 'maven') {
    // Java compiles the source file before it runs it.
    const command = ['java', '-XX:TieredStopAtLevel=1', '--class-path', join(installed, 'lib/*'), program];
    return startProgram({ ...common, cwd: folder, command });
  }
  symlinkSync(join(installed, 'node_modules'), join(folder, 'node_modules'));
  return startProgram({ ...common, cwd: folder, command: [process.execPath, program] });
};
