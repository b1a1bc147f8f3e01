import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument, Option } from 'commander';
import { prefixOf } from '../../lib/environments.ts';
import { type Caller, readAllowedCaller } from '../caller.ts';
import { newCommand, runCommand } from '../command-line.ts';
import { checkCatalog, checkNode } from '../commands/doctor/machine-checks.ts';
import { CONFIG_VARIABLE, configPath, environmentNames, environmentOf } from '../config.ts';
import { failed, misused, whyOf } from '../exit.ts';
import { toTable } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { toNextSteps } from './next-steps.ts';
import { pinAccount } from './pin-account.ts';
import { preflight } from './preflight.ts';
import { type AssemblyStack, readAssembly } from './read-assembly.ts';
import { readOutputs } from './read-outputs.ts';
import { readRollbackOptions } from './rollback-triggers.ts';

/** Path of a program, followed by its first arguments. */
export type Cdk = readonly string[];

const root = join(import.meta.dirname, '../..');

/** Variables that select credentials of cdk, but not those of the AWS SDK and so of the checks. */
const ONLY_CDK = ['AWS_DEFAULT_PROFILE', 'AMAZON_ACCESS_KEY_ID', 'AMAZON_SECRET_ACCESS_KEY', 'AMAZON_SESSION_TOKEN'];

/**
 * Runs cdk and returns its exit code. cdk shares this terminal, because it asks before it broadens permissions. It finds
 * credentials where the AWS SDK does: AWS_PROFILE, then the access key in the shell. An empty `--profile` means no
 * profile, and has precedence over CDK_PROFILE and `~/.cdk.json`.
 */
export const runCdk = async ([program = '', ...first]: Cdk, args: readonly string[]): Promise<number> => {
  const own = Object.entries(process.env).filter(([name]) => !ONLY_CDK.includes(name));
  // cdk has another working directory, so it may not find the file itself.
  const env: NodeJS.ProcessEnv = { ...Object.fromEntries(own), [CONFIG_VARIABLE]: configPath };
  const all = [...first, ...args, `--profile=${env.AWS_PROFILE ?? ''}`];
  const child = spawn(program, all, { cwd: root, stdio: 'inherit', env });
  try {
    const [code] = await once(child, 'exit');
    return typeof code === 'number' ? code : 1;
  } catch (error) {
    throw failed(`cdk: cannot be started (${whyOf(error)}). Run npm ci first.`, error);
  }
};

export interface DeploymentDependencies {
  readonly terminal: Terminal;
  readonly cdk: Cdk;
  /** Checks the deployed environment. Throws a CliError if a step failed. */
  readonly checkDeployed: (name: string) => Promise<void>;
}

interface DeployOptions {
  readonly dryRun?: true;
  readonly preflight?: true;
  readonly check: boolean;
  readonly ignoreAlarms?: true;
}

/** Returns the exit code. `args` come from the shell, without the name of the program. */
export const runDeployment = (args: readonly string[], ports: DeploymentDependencies): Promise<number> => {
  const { terminal } = ports;
  const program = newCommand('deploy', terminal)
    .description('deploy or update an environment')
    .addArgument(new Argument('<environment>', 'name of the environment').choices(environmentNames))
    .argument('[flags...]', 'options for `cdk deploy` after `--`, such as --require-approval never')
    .option('--dry-run', 'show what would be deployed; needs no credentials')
    .addOption(new Option('--preflight', 'check the AWS account and change nothing').conflicts('dryRun'))
    .option('--no-check', 'do not check the deployed environment, which needs more rights than a deployment')
    .option('--ignore-alarms', 'do not roll back for a money alarm, to deploy the fix of one')
    .action(async (name: string, flags: readonly string[], options: DeployOptions) => {
      refuseFlags(flags);
      const work = options.dryRun ? plan : options.preflight ? check : deploy;
      await inFolder((folder) => work({ ...ports, name, flags, folder, ...toChoices(options) }));
    });
  return runCommand(program, args, terminal);
};

const toChoices = ({ check: checks, ignoreAlarms }: DeployOptions) => ({
  checks,
  ignoresAlarms: ignoreAlarms === true,
});

/** Matches a stack selection of cdk, such as `prod/edge` or `*`. */
const STACKS = new RegExp(`[*]|^(${environmentNames.join('|')})(/|$)`);

const OUTPUTS = 'this command reads the outputs file itself. Remove it.';
const ALARMS = 'this command watches the money alarms. Set rollbackMinutes in lib/environments.ts instead.';
const ASSEMBLY = 'this command deploys the stacks that it has checked. Remove it.';

/** Options that are not allowed, with the reason and the fix. */
const refusedFlags: Readonly<Record<string, string>> = {
  '--profile': 'the checks before the deployment use the shell. Set AWS_PROFILE instead.',
  '--outputs-file': OUTPUTS,
  '-O': OUTPUTS,
  '--app': ASSEMBLY,
  '-a': ASSEMBLY,
  '--output': ASSEMBLY,
  '-o': ASSEMBLY,
  '--rollback-trigger-alarm-arns': ALARMS,
  '--monitoring-time-minutes': ALARMS,
};

/**
 * Rejects options that select other stacks, use another account than the checks, or move files.
 * Throws a CliError.
 */
const refuseFlags = (flags: readonly string[]): void => {
  for (const [index, flag] of flags.entries()) {
    const [name = ''] = flag.split('=');
    const isValue = flags[index - 1]?.startsWith('-') === true && !STACKS.test(flag);
    if (!flag.startsWith('-') && !isValue) {
      throw misused(`${flag}: not an option. A deployment always covers all stacks of one environment. Remove it.`);
    }
    const reason = refusedFlags[name];
    if (reason !== undefined) throw misused(`${name}: not allowed, because ${reason}`);
  }
};

const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-deploy-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

interface Deployment extends DeploymentDependencies {
  readonly name: string;
  readonly flags: readonly string[];
  /** Temporary folder, removed at the end. */
  readonly folder: string;
  /** Whether a check of the deployed environment follows. */
  readonly checks: boolean;
  /** Whether an alarm does not roll this deployment back. */
  readonly ignoresAlarms: boolean;
}

/** Shows what would be deployed. */
const plan = async (deployment: Deployment): Promise<void> => {
  await checkFirst(deployment.terminal, deployment.name);
  const { stacks } = await synthesize(deployment);
  await deployment.terminal.print(toPlan(stacks));
};

/** Lists the stacks that a deployment would create or update. */
const toPlan = (stacks: readonly AssemblyStack[]): string =>
  toTable(
    ['stack', 'region', 'resources'],
    stacks.map(({ name, region, resources }) => ({ stack: name, region, resources: resources.length })),
  );

/** Makes every check of a deployment, and changes nothing. */
const check = async (deployment: Deployment): Promise<void> => {
  const { stacks } = await prepare(deployment);
  deployment.terminal.status(`Preflight: no problem in ${regionsOf(stacks).join(', ')}. Nothing was changed.`);
};

/**
 * Deploys the stacks, then checks them as a client. A repeat after a failure continues, because CloudFormation keeps the
 * stacks that are deployed. cdk has one set of rollback triggers for all stacks of a run, so the functions come first.
 */
const deploy = async (deployment: Deployment): Promise<void> => {
  const { terminal, cdk, name, flags, folder, checks, checkDeployed } = deployment;
  const { assembly, stacks, caller } = await prepare(deployment);
  const options = await readRollbackOptions(stacks, name, caller, terminal, deployment.ignoresAlarms);
  terminal.status(`Stacks ${prefixOf(name)}-* in ${regionsOf(stacks).join(', ')}`);
  const outputsFile = join(folder, 'outputs.json');
  // Import log groups that a deleted stack left behind under the same names.
  const own = ['--app', assembly, '--outputs-file', outputsFile, '--import-existing-resources'];
  const run = async (selected: string, rollback: readonly string[]): Promise<void> => {
    const code = await runCdk(cdk, ['deploy', selected, ...own, ...rollback, ...flags]);
    if (code !== 0) throw failed(toAdvice(name, code));
  };
  if (options.functions) await run(`${name}/api`, options.functions);
  await run(`${name}/*`, options.all);
  await terminal.print(toNextSteps(name, readOutputs(outputsFile, name)));
  if (checks) await checkDeployed(name);
};

/**
 * Compares the AWS account before anything else, because it takes a second and the synthesis a minute. Then checks the
 * account for the synthesized stacks, which are the ones that are deployed, and only to this account.
 */
const prepare = async (deployment: Deployment): Promise<Synthesis & { readonly caller: Caller }> => {
  const { terminal, name } = deployment;
  const caller = await readAllowedCaller(name, terminal.environment.AWS_PROFILE);
  await checkFirst(terminal, name);
  terminal.status(`AWS account ${caller.account}, as ${caller.arn}`);
  const synthesis = await synthesize(deployment);
  pinAccount(synthesis.assembly, caller.account);
  await preflight(synthesis.stacks, name, caller, terminal);
  return { ...synthesis, caller };
};

/** Checks Node and the catalog. Throws a CliError for a problem that would otherwise stop the deployment halfway. */
const checkFirst = async ({ environment, status }: Terminal, name: string): Promise<void> => {
  const { markup } = environmentOf(name);
  for (const { check, status: result, detail, advice } of [
    checkNode(process.versions.node),
    await checkCatalog({ ...environment, MARKUP: markup }),
  ]) {
    if (result === 'failure') throw failed(`${check}: ${detail}. ${advice}`);
    if (result === 'warning') status(`${check}: ${detail}. ${advice}`);
  }
};

interface Synthesis {
  /** Folder of the cloud assembly. */
  readonly assembly: string;
  readonly stacks: readonly AssemblyStack[];
}

const synthesize = async ({ cdk, name, flags, folder }: Deployment): Promise<Synthesis> => {
  const assembly = join(folder, 'cdk.out');
  const code = await runCdk(cdk, ['synth', `${name}/*`, ...alone(name), '--quiet', '--output', assembly, ...flags]);
  if (code !== 0)
    throw failed(`cdk synth failed with exit code ${code}. Fix the error above, then run the same command again.`);
  return { assembly, stacks: readAssembly(assembly) };
};

const regionsOf = (stacks: readonly AssemblyStack[]): readonly string[] => [
  ...new Set(stacks.map(({ region }) => region)),
];

/** Limits synthesis to one environment, so that errors in the others do not block it. */
const alone = (name: string): readonly string[] => ['-c', `environment=${name}`];

const PROTECTED =
  'If a stack failed during its first creation, turn off its termination protection first: ' +
  'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name <its name>.';

const WATCHED =
  'If a money alarm rolled the functions back, docs/runbook.md has its causes. To deploy its fix, add --ignore-alarms.';

const toAdvice = (name: string, code: number): string =>
  [
    `cdk deploy failed with exit code ${code}. Stacks that are already deployed stay.`,
    'Fix the error above, then run the same command again.',
    ...(environmentOf(name).rollbackMinutes === undefined ? [] : [WATCHED]),
    ...(environmentOf(name).terminationProtection ? [PROTECTED] : []),
  ].join(' ');
