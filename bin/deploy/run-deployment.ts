import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument } from 'commander';
import { EDGE_REGION } from '../../lib/edge/edge-region.ts';
import { type EnvironmentName, environmentNames, environments, prefixOf } from '../../lib/environments.ts';
import { newCommand, runCommand } from '../command-line.ts';
import { failed, misused, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { checkFirst } from './check-first.ts';
import { toNextSteps } from './next-steps.ts';
import { readOutputs } from './read-outputs.ts';
import { toPlan } from './to-plan.ts';

/** Path of a program, followed by its first arguments. */
export type Cdk = readonly string[];

const root = join(import.meta.dirname, '../..');

/** Runs cdk and returns its exit code. cdk shares this terminal, because it asks before it broadens permissions. */
export const runCdk = async ([program = '', ...first]: Cdk, args: readonly string[]): Promise<number> => {
  const child = spawn(program, [...first, ...args], { cwd: root, stdio: 'inherit' });
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
}

interface DeployOptions {
  readonly dryRun?: true;
}

/** Returns the exit code. `args` come from the shell, without the name of the program. */
export const runDeployment = (args: readonly string[], ports: DeploymentDependencies): Promise<number> => {
  const { terminal } = ports;
  const program = newCommand('deploy', terminal)
    .description('deploy or update an environment')
    .addArgument(new Argument('<environment>', 'environment of lib/environments.ts').choices(environmentNames))
    .argument('[flags...]', 'options for `cdk deploy` after `--`, such as --require-approval never')
    .option('--dry-run', 'show what would be deployed; needs no credentials')
    .action(async (name: EnvironmentName, flags: readonly string[], { dryRun }: DeployOptions) => {
      refuseFlags(flags);
      await inFolder((folder) => (dryRun ? plan : deploy)({ ...ports, name, flags, folder }));
    });
  return runCommand(program, args, terminal);
};

/** Matches a stack selection of cdk, such as `prod/edge` or `*`. */
const STACKS = new RegExp(`[*]|^(${environmentNames.join('|')})(/|$)`);

/**
 * Rejects options that select other stacks, use another account than the checks, or move the outputs file.
 * Throws a CliError.
 */
const refuseFlags = (flags: readonly string[]): void => {
  for (const [index, flag] of flags.entries()) {
    const name = flag.split('=')[0];
    const isValue = flags[index - 1]?.startsWith('-') === true && !STACKS.test(flag);
    if (!flag.startsWith('-') && !isValue) {
      throw misused(`${flag}: not an option. A deployment always covers all stacks of one environment. Remove it.`);
    }
    if (name === '--profile')
      throw misused(
        '--profile: not allowed, because the checks before the deployment use the shell. Set AWS_PROFILE instead.',
      );
    if (name === '--outputs-file' || name === '-O')
      throw misused(`${name}: not allowed, because this command reads the outputs file itself. Remove it.`);
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
  readonly name: EnvironmentName;
  readonly flags: readonly string[];
  /** Temporary folder, removed at the end. */
  readonly folder: string;
}

const plan = async ({ terminal, cdk, name, flags, folder }: Deployment): Promise<void> => {
  await checkFirst(terminal, name, { credentials: false });
  const assembly = join(folder, 'cdk.out');
  const code = await runCdk(cdk, ['synth', `${name}/*`, ...alone(name), '--quiet', '--output', assembly, ...flags]);
  if (code !== 0)
    throw failed(`cdk synth failed with exit code ${code}. Fix the error above, then run the same command again.`);
  await terminal.print(toPlan(assembly));
};

/** Deploys the stacks. A repeat after a failure continues, because CloudFormation keeps the stacks that are deployed. */
const deploy = async ({ terminal, cdk, name, flags, folder }: Deployment): Promise<void> => {
  await checkFirst(terminal, name, { credentials: true });
  terminal.status(`Stacks ${prefixOf(name)}-*`);
  const outputsFile = join(folder, 'outputs.json');
  // Import log groups that a deleted stack left behind under the same names.
  const own = [...alone(name), '--outputs-file', outputsFile, '--import-existing-resources'];
  const code = await runCdk(cdk, ['deploy', `${name}/*`, ...own, ...flags]);
  if (code !== 0) throw failed(toAdvice(name, code));
  await terminal.print(toNextSteps(name, readOutputs(outputsFile, name)));
};

/** Limits synthesis to one environment, so that errors in the others do not block it. */
const alone = (name: EnvironmentName): readonly string[] => ['-c', `environment=${name}`];

const PROTECTED =
  'If a stack failed during its first creation, turn off its termination protection first: ' +
  'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name <its name>.';

const toAdvice = (name: EnvironmentName, code: number): string => {
  const { region, frontDoor, terminationProtection } = environments[name];
  const regions = new Set([region, ...(frontDoor === 'cloudfront' ? [EDGE_REGION] : [])]);
  const places = [...regions].map((each) => `aws://<account>/${each}`).join(' ');
  return [
    `cdk deploy failed with exit code ${code}. Stacks that are already deployed stay.`,
    'Fix the error above, then run the same command again.',
    ...(terminationProtection ? [PROTECTED] : []),
    `In an account without CDK, first run: npx cdk bootstrap ${places}`,
  ].join(' ');
};
