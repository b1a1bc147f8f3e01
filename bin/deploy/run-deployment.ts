import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument } from 'commander';
import { EDGE_REGION } from '../../lib/edge/edge-region.ts';
import { type EnvironmentName, environmentNames, environments, prefixOf } from '../../lib/environments.ts';
import { buildPages } from '../../lib/pages/build-pages.ts';
import { newCommand, runCommand } from '../command-line.ts';
import { failed, misused, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { checkFirst } from './check-first.ts';
import { toNextSteps } from './next-steps.ts';
import { putDeployedPages } from './put-deployed-pages.ts';
import { readOutputs } from './read-outputs.ts';
import { toPlan } from './to-plan.ts';

/** A program and its first arguments. */
export type Cdk = readonly string[];

const root = join(import.meta.dirname, '../..');

/** Answers its exit code. It has this terminal, where it asks before it widens permissions. */
export const runCdk = async ([program = '', ...first]: Cdk, args: readonly string[]): Promise<number> => {
  const child = spawn(program, [...first, ...args], { cwd: root, stdio: 'inherit' });
  try {
    const [code] = await once(child, 'exit');
    return typeof code === 'number' ? code : 1;
  } catch (error) {
    throw failed(`cdk cannot be started: ${whyOf(error)}. Run npm ci first.`, error);
  }
};

export interface DeploymentDependencies {
  readonly terminal: Terminal;
  readonly cdk: Cdk;
}

interface DeployOptions {
  readonly dryRun?: true;
}

/** Answers the exit code; `args` as a shell gives them, without the program's own name. */
export const runDeployment = (args: readonly string[], ports: DeploymentDependencies): Promise<number> => {
  const { terminal } = ports;
  const program = newCommand('deploy', terminal)
    .description('put everything of an environment up, or bring it up to date: the stacks, then the pages')
    .addArgument(new Argument('<environment>', 'of lib/environments.ts').choices(environmentNames))
    .argument('[flags...]', 'after `--`: for `cdk deploy`, such as --require-approval never')
    .option('--dry-run', 'say what would go up; needs no credentials')
    .action(async (name: EnvironmentName, flags: readonly string[], { dryRun }: DeployOptions) => {
      refuseFlags(flags);
      await inFolder((folder) => (dryRun ? plan : deploy)({ ...ports, name, flags, folder }));
    });
  return runCommand(program, args, terminal);
};

/** As cdk is told them: `prod/edge`, `*`. */
const STACKS = new RegExp(`[*]|^(${environmentNames.join('|')})(/|$)`);

/** What would lead only a part of this somewhere else, or bring up something else as well. */
const refuseFlags = (flags: readonly string[]): void => {
  for (const [index, flag] of flags.entries()) {
    const name = flag.split('=')[0];
    const isValue = flags[index - 1]?.startsWith('-') === true && !STACKS.test(flag);
    if (!flag.startsWith('-') && !isValue) {
      throw misused(
        `${flag}: all stacks of one environment go up, and no others. After \`--\` there are options of cdk alone.`,
      );
    }
    if (name === '--profile') throw misused('Set AWS_PROFILE instead of --profile: the pages go where the stacks go.');
    if (name === '--outputs-file' || name === '-O') throw misused(`${name} is taken: the outputs are read here.`);
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
  /** For what is read once; removed at the end. */
  readonly folder: string;
}

const plan = async ({ terminal, cdk, name, flags, folder }: Deployment): Promise<void> => {
  await checkFirst(terminal, name, { credentials: false });
  const assembly = join(folder, 'cdk.out');
  const code = await runCdk(cdk, ['synth', `${name}/*`, ...alone(name), '--quiet', '--output', assembly, ...flags]);
  if (code !== 0) throw failed(`cdk synth ended with ${code}, for the reason above.`);
  await terminal.print(toPlan(assembly, await buildPages()));
};

/** Each step leaves what is there already as it is, so that the same command again goes on where this one ended. */
const deploy = async ({ terminal, cdk, name, flags, folder }: Deployment): Promise<void> => {
  await checkFirst(terminal, name, { credentials: true });
  terminal.status(`1 of 2: the stacks ${prefixOf(name)}-*`);
  const outputsFile = join(folder, 'outputs.json');
  // Logs that an earlier stack has left behind, under names that come again, are taken over.
  const own = [...alone(name), '--outputs-file', outputsFile, '--import-existing-resources'];
  const code = await runCdk(cdk, ['deploy', `${name}/*`, ...own, ...flags]);
  if (code !== 0) throw failed(toAdvice(name, code));
  const outputs = readOutputs(outputsFile, name);
  terminal.status('2 of 2: the pages');
  await putDeployedPages({ terminal, bucket: outputs.bucket, region: environments[name].region });
  await terminal.print(toNextSteps(name, outputs));
};

/** What is wrong in another environment is no reason to keep this one waiting. */
const alone = (name: EnvironmentName): readonly string[] => ['-c', `environment=${name}`];

const PROTECTED =
  'A stack that failed while it was first made is protected all the same: for such a one, first run ' +
  'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name <its name>.';

const toAdvice = (name: EnvironmentName, code: number): string => {
  const { region, frontDoor, terminationProtection } = environments[name];
  const regions = new Set([region, ...(frontDoor === 'cloudfront' ? [EDGE_REGION] : [])]);
  const places = [...regions].map((each) => `aws://<account>/${each}`).join(' ');
  return [
    `Step 1 of 2, cdk deploy, ended with ${code}. Stacks that went up stay, and the pages are as they were.`,
    'Mend what is told above and run the same again.',
    ...(terminationProtection ? [PROTECTED] : []),
    `Where CDK has never been used, run this first: npx cdk bootstrap ${places}`,
  ].join(' ');
};
