import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runDeployment } from '../../bin/deploy/run-deployment.ts';
import { unsatisfied } from '../../bin/exit.ts';
import { createProgram } from '../../bin/program.ts';
import { environments } from '../../lib/environments.ts';
import { ACCOUNT, scriptAws, withoutCredentials } from '../support/scripted-account.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';
import type { CdkScript } from './fake-cdk.ts';

const fakeCdk = join(import.meta.dirname, './fake-cdk.ts');
const folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));

const data = {
  providerKeysSecretArn: 'arn:provider-keys',
  botTokenSecretArn: 'arn:bot-token',
};
const outputs = { 'gateway-dev-data': data, 'gateway-dev-edge': { publicUrl: 'https://d1.cloudfront.net' } };
let runs = 0;
const deploy = async (args: string, script: CdkScript, environment: Readonly<Record<string, string>> = {}) => {
  const path = join(folder, `script-${++runs}`);
  writeFileSync(path, JSON.stringify(script));
  const { terminal, written } = scriptedTerminal(environment);
  const cdk = [process.execPath, fakeCdk, path];
  const checked: string[] = [];
  const checkDeployed = async (name: string): Promise<void> => {
    checked.push(`${name} after ${written.stdout.length > 0 ? 'the next steps' : 'nothing'}`);
    if (environment.CHECK === 'fails') throw unsatisfied();
  };
  const status = await runDeployment(args.split(' '), { terminal, cdk, checkDeployed });
  const calls = existsSync(`${path}.calls`) ? readFileSync(`${path}.calls`, 'utf8').trim().split('\n') : [];
  const manifest = existsSync(`${path}.manifest`) ? readFileSync(`${path}.manifest`, 'utf8') : '';
  return { status, ...written, checked, manifest, calls: calls.map((line): string[] => JSON.parse(line)) };
};

/** Arguments of the two runs of cdk. */
const synth = ['synth', 'dev/*', '-c', 'environment=dev', '--quiet', '--output', expect.any(String)];
const NO_PROFILE = '--profile=';
const deploys = [
  ...['deploy', 'dev/*', '--app', expect.any(String), '--outputs-file', expect.any(String)],
  '--import-existing-resources',
  '--rollback-trigger-alarm-arns=none',
];

test('a deployment, and its repeat, checks the account, creates the stacks and prints next steps', async () => {
  await scriptAws({ assumesOnly: true });
  for (const _ of ['once', 'and again']) {
    const run = await deploy('dev -- --require-approval never', { exitCode: 0, outputs });
    expect([run.status, run.stderr]).toEqual([
      0,
      expect.stringContaining(
        `AWS account ${ACCOUNT}, as arn:aws:iam::${ACCOUNT}:user/operator\nStacks gateway-dev-* in us-east-1\n`,
      ),
    ]);
    const own = ['--require-approval', 'never'];
    expect(run.calls).toEqual([
      [...synth, ...own, NO_PROFILE],
      [...deploys, ...own, NO_PROFILE],
    ]);
    const [made = [], args = []] = run.calls;
    expect(args[args.indexOf('--app') + 1]).toBe(made[made.indexOf('--output') + 1]);
    expect(existsSync(args[args.indexOf('--outputs-file') + 1]!)).toBe(false);
    expect(run.stdout).toContain('https://d1.cloudfront.net/v1');
    expect(run.stdout).toContain(
      'aws secretsmanager put-secret-value --region us-east-1 --secret-id arn:provider-keys --secret-string file://',
    );
  }
});

test('OPS-12 a deployment to another account starts nothing, and makes no other call', async () => {
  const environment = { ...environments.dev, account: '210987654321' };
  vi.spyOn(environments, 'dev', 'get').mockReturnValue(environment);
  onTestFinished(() => void vi.restoreAllMocks());
  const aws = await scriptAws({});
  for (const args of ['dev', 'dev --preflight']) {
    const run = await deploy(args, { exitCode: 0, outputs });
    expect([run.status, run.calls, run.stdout]).toEqual([2, [], '']);
    expect(run.stderr).toBe(
      `environments.dev.account: is 210987654321, but the AWS credentials are for ${ACCOUNT}. Set AWS_PROFILE, or correct the account in gateway.config.ts.\n`,
    );
  }
  expect(aws.calls).toEqual(['GetCallerIdentity', 'GetCallerIdentity']);
});

test.each(['any', ACCOUNT])('OPS-12 a deployment with account %s pins the account of the caller', async (account) => {
  const environment = { ...environments.dev, account };
  vi.spyOn(environments, 'dev', 'get').mockReturnValue(environment);
  onTestFinished(() => void vi.restoreAllMocks());
  await scriptAws({});
  const { manifest } = await deploy('dev', { exitCode: 0, outputs });
  expect(manifest.match(/aws:\/\/[^"]+/g)).toEqual([`aws://${ACCOUNT}/us-east-1`]);
});

test.each(['staging', 'prod'])('OPS-12 %s is not deployed before its account is set', async (name) => {
  const aws = await scriptAws({});
  const run = await deploy(name, { exitCode: 0, outputs });
  expect([run.status, run.calls, aws.calls]).toEqual([2, [], []]);
  expect(run.stderr).toMatch(new RegExp(`^environments\\.${name}\\.account: not set\\. `));
});

test('OPS-17 the functions are deployed first, watched by the money alarms, then all stacks', async () => {
  vi.spyOn(environments, 'dev', 'get').mockReturnValue({ ...environments.dev, rollbackMinutes: 5 });
  onTestFinished(() => void vi.restoreAllMocks());
  const names = ['audit-difference', 'settle-failures', 'orphaned-holds'].map((id) => `gateway-dev-${id}`);
  await scriptAws({ alarms: { 'gateway-dev-operations': names } });
  const run = await deploy('dev -- --concurrency 2', { exitCode: 0, outputs });
  const triggers = names.map((name) => expect.stringMatching(`^--rollback-trigger-alarm-arns=arn:.*:alarm:${name}$`));
  const [, , ...same] = deploys.slice(0, -1);
  expect(run.calls.slice(1)).toEqual([
    ['deploy', 'dev/api', ...same, ...triggers, '--monitoring-time-minutes=5', '--concurrency', '2', NO_PROFILE],
    ['deploy', 'dev/*', ...same, '--concurrency', '2', NO_PROFILE],
  ]);
  const failed = await deploy('dev', { exitCode: 3 });
  expect([failed.calls.length, failed.stderr]).toEqual([2, expect.stringContaining('--ignore-alarms')]);
  const ignored = await deploy('dev --ignore-alarms', { exitCode: 0, outputs });
  expect(ignored.calls.slice(1)).toEqual([[...deploys, NO_PROFILE]]);
});

test('OPS-12 a failed check ends a deployment before it changes anything', async () => {
  await scriptAws({ missingTypes: ['AWS::Lambda::WebFunction'] });
  const run = await deploy('dev', { exitCode: 0, outputs });
  expect([run.status, run.calls, run.stdout]).toEqual([1, [[...synth, NO_PROFILE]], '']);
  expect(run.stderr).toContain('region: us-east-1 does not offer AWS::Lambda::WebFunction.');
});

test('OPS-12 --preflight makes the checks and deploys nothing', async () => {
  await scriptAws({});
  const run = await deploy('dev --preflight', { exitCode: 0, outputs });
  expect([run.status, run.calls, run.stdout]).toEqual([0, [[...synth, NO_PROFILE]], '']);
  expect(run.stderr).toContain('Preflight: no problem in us-east-1. Nothing was changed.');
});

test('OPS-13, OPS-14 --no-check deploys without the check, with the rights to assume roles only', async () => {
  await scriptAws({ assumesOnly: true });
  const run = await deploy('dev --no-check', { exitCode: 0, outputs }, { CHECK: 'fails' });
  expect([run.status, run.checked, run.calls]).toEqual([
    0,
    [],
    [
      [...synth, NO_PROFILE],
      [...deploys, NO_PROFILE],
    ],
  ]);
});

test('OPS-13 a deployment ends with the check of the environment, and exits with its result', async () => {
  await scriptAws({});
  const run = (CHECK: string) => deploy('dev', { exitCode: 0, outputs }, { CHECK });
  const well = await run('succeeds');
  expect([well.status, well.checked]).toEqual([0, ['dev after the next steps']]);
  expect((await run('fails')).status).toBe(1);
  expect((await deploy('dev', { exitCode: 3 })).checked).toEqual([]);
});

test('the command line accepts every command that a deployment prints', async () => {
  await scriptAws({});
  const { stdout } = await deploy('dev', { exitCode: 0, outputs });
  const lines = [...stdout.matchAll(/npm run cli -- (.*)/g)].map(([, line]) => line!);
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    const args = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", ''));
    const { terminal } = scriptedTerminal({}, true);
    const program = createProgram(terminal);
    const leaf = args.reduce(
      (command, word) => command.commands.find((each) => each.name() === word) ?? command,
      program,
    );
    const taken: unknown[] = [];
    leaf.action((...values: unknown[]) => void taken.push(values));
    await program.parseAsync(args, { from: 'user' });
    expect(taken, line).toHaveLength(1);
  }
});

test('a deployment without a front door prints the URLs of the functions', async () => {
  const api = {
    textUrl: 'https://text.example/',
    contentUrl: 'https://content.example/',
    failedAccountChangesUrl: 'q',
  };
  await scriptAws({});
  const all = { 'gateway-dev-data': data, 'gateway-dev-api': api };
  const { stdout } = await deploy('dev', { exitCode: 0, outputs: all });
  expect(stdout).toMatch(/^textUrl {5}https:\/\/text\.example\/$/m);
  expect(stdout).not.toMatch(/Base URL|failedAccount/);
});

test('a failed deployment is named with how to continue', async () => {
  await scriptAws({});
  const failed = await deploy('dev', { exitCode: 3 });
  expect([failed.status, failed.stdout]).toEqual([1, '']);
  expect(failed.stderr).toContain('cdk deploy failed with exit code 3. Stacks that are already deployed stay.');

  const prepared = await deploy('dev -- --no-execute', { exitCode: 0 });
  expect([prepared.status, prepared.stderr]).toEqual([1, expect.stringContaining('cdk deploy wrote no outputs')]);
});

test('a deployment without credentials starts nothing', async () => {
  withoutCredentials();
  const run = await deploy('dev', { exitCode: 0, outputs });
  expect([run.status, run.calls, run.stdout]).toEqual([1, [], '']);
  expect(run.stderr).toContain('AWS credentials: not found');
});

test('a dry run needs neither credentials nor an account and lists the stacks', async () => {
  withoutCredentials();
  const run = await deploy('dev --dry-run -- -c frontDoor=none', { exitCode: 0 });
  expect([run.status, run.calls]).toEqual([0, [[...synth, '-c', 'frontDoor=none', NO_PROFILE]]]);
  expect(run.stdout).toMatch(/^gateway-dev-data {2,}us-east-1 +2$/m);
  expect((await deploy('prod --dry-run', { exitCode: 0 })).status).toBe(0);
  const broken = await deploy('dev --dry-run', { exitCode: 0, synthExitCode: 1 });
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining('cdk synth failed with exit code 1')]);
});
