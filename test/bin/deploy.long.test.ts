import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runDeployment } from '../../bin/deploy/run-deployment.ts';
import { createProgram } from '../../bin/program.ts';
import { scriptedTerminal } from '../support/scripted-terminal.ts';
import type { CdkScript } from './fake-cdk.ts';

const fakeCdk = join(import.meta.dirname, './fake-cdk.ts');
const folder = mkdtempSync(join(tmpdir(), 'deploy-test-'));

const data = {
  providerKeysSecretArn: 'arn:provider-keys',
  botTokenSecretArn: 'arn:bot-token',
};
const outputs = { 'gateway-dev-data': data, 'gateway-dev-edge': { publicUrl: 'https://d1.cloudfront.net' } };
const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local-secret' };

let runs = 0;
const deploy = async (args: string, script: CdkScript, environment: Readonly<Record<string, string>> = {}) => {
  const path = join(folder, `script-${++runs}`);
  writeFileSync(path, JSON.stringify(script));
  const { terminal, written } = scriptedTerminal(environment);
  const cdk = [process.execPath, fakeCdk, path];
  const status = await runDeployment(args.split(' '), { terminal, cdk });
  const calls = existsSync(`${path}.calls`) ? readFileSync(`${path}.calls`, 'utf8').trim().split('\n') : [];
  return { status, ...written, calls: calls.map((line): string[] => JSON.parse(line)) };
};

/** Runs `work` with these credential variables only: the SDK finds no others in the test process. */
const withCredentials = async <T>(variables: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> => {
  const nowhere = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  for (const [name, value] of Object.entries({ ...nowhere, ...variables })) vi.stubEnv(name, value);
  try {
    return await work();
  } finally {
    vi.unstubAllEnvs();
  }
};

test('a deployment, and its repeat, creates the stacks and prints next steps', async () => {
  for (const _ of ['once', 'and again']) {
    const run = await withCredentials(credentials, () =>
      deploy('dev -- --require-approval never', { exitCode: 0, outputs }),
    );
    expect([run.status, run.stderr]).toEqual([0, expect.stringContaining('Stacks gateway-dev-*')]);
    expect(run.calls).toEqual([
      [
        'deploy',
        'dev/*',
        '-c',
        'environment=dev',
        '--outputs-file',
        expect.any(String),
        '--import-existing-resources',
        '--require-approval',
        'never',
      ],
    ]);
    const [args = []] = run.calls;
    expect(existsSync(args[args.indexOf('--outputs-file') + 1]!)).toBe(false);
    expect(run.stdout).toContain('https://d1.cloudfront.net/v1');
    expect(run.stdout).toContain(
      'aws secretsmanager put-secret-value --region us-east-1 --secret-id arn:provider-keys --secret-string file://',
    );
  }
});

test('the command line accepts every command that a deployment prints', async () => {
  const { stdout } = await withCredentials(credentials, () => deploy('dev', { exitCode: 0, outputs }));
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
  const { stdout } = await withCredentials(credentials, () =>
    deploy('dev', { exitCode: 0, outputs: { 'gateway-dev-data': data, 'gateway-dev-api': api } }),
  );
  expect(stdout).toMatch(/^textUrl {5}https:\/\/text\.example\/$/m);
  expect(stdout).not.toMatch(/Base URL|failedAccount/);
});

test('a failed deployment is named with how to continue', async () => {
  const failed = await withCredentials(credentials, () => deploy('staging', { exitCode: 3 }));
  expect([failed.status, failed.stdout]).toEqual([1, '']);
  expect(failed.stderr).toContain('cdk deploy failed with exit code 3.');
  expect(failed.stderr).toContain('npx cdk bootstrap aws://<account>/us-east-1');

  const prepared = await withCredentials(credentials, () => deploy('dev -- --no-execute', { exitCode: 0 }));
  expect([prepared.status, prepared.stderr]).toEqual([1, expect.stringContaining('cdk deploy wrote no outputs')]);
});

test('a deployment without credentials starts nothing', async () => {
  const run = await withCredentials({}, () => deploy('dev', { exitCode: 0, outputs }));
  expect([run.status, run.calls, run.stdout]).toEqual([1, [], '']);
  expect(run.stderr).toContain('AWS credentials: not found');
});

test('a dry run needs no credentials and lists the stacks', async () => {
  const run = await withCredentials({}, () => deploy('dev --dry-run -- -c frontDoor=none', { exitCode: 0 }));
  expect(run.status).toBe(0);
  expect(run.calls).toEqual([
    ['synth', 'dev/*', '-c', 'environment=dev', '--quiet', '--output', expect.any(String), '-c', 'frontDoor=none'],
  ]);
  expect(run.stdout).toMatch(/^gateway-dev-data {2,}us-east-1 +2$/m);
  const broken = await deploy('dev --dry-run', { exitCode: 1 });
  expect([broken.status, broken.stderr]).toEqual([1, expect.stringContaining('cdk synth failed with exit code 1')]);
});
