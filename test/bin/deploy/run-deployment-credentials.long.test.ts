import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { pinAccount } from '../../../bin/deploy/pin-account.ts';
import { runDeployment } from '../../../bin/deploy/run-deployment.ts';
import { ACCOUNT, scriptAws, withoutCredentials } from '../../support/scripted-account.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';
import { writeAssembly } from '../fake-assembly.ts';
import { realCdk } from '../fake-cdk.ts';

const OTHER = '210987654321';
const profileOf = (name: string, key: string): string =>
  `[${name}]\naws_access_key_id=${key}\naws_secret_access_key=secret\n`;

interface Scene {
  readonly environment?: Readonly<Record<string, string>>;
  /** Content of `~/.cdk.json`. */
  readonly cdkJson?: object;
}

/**
 * Scripts AWS for a machine whose profile `ok` is of the checked account, and its profile `other` and access keys with
 * `OTHER` are of another one. Returns a new folder, which is the home.
 */
const newScene = async (checked: 'ok' | 'default', { environment = {}, cdkJson }: Scene) => {
  const aws = await scriptAws({ otherAccounts: { AKIAOTHER: OTHER } });
  const home = mkdtempSync(join(tmpdir(), 'credentials-'));
  const config = join(home, 'config');
  const other = checked === 'ok' ? 'default' : 'profile other';
  const ok = checked === 'ok' ? 'profile ok' : 'default';
  writeFileSync(config, `${profileOf(ok, 'AKIAOK')}${profileOf(other, 'AKIAOTHER')}`);
  if (cdkJson) writeFileSync(join(home, '.cdk.json'), JSON.stringify(cdkJson));
  withoutCredentials();
  const variables = {
    HOME: home,
    // cdk keeps the account of each access key there.
    CDK_HOME: home,
    AWS_CONFIG_FILE: config,
    CDK_DISABLE_VERSION_CHECK: '1',
    CDK_DISABLE_CLI_TELEMETRY: '1',
    ...environment,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  return { aws, home };
};

const OTHER_KEY = { AWS_ACCESS_KEY_ID: 'AKIAOTHER', AWS_SECRET_ACCESS_KEY: 'secret' };
const OTHER_AMAZON_KEY = { AMAZON_ACCESS_KEY_ID: 'AKIAOTHER', AMAZON_SECRET_ACCESS_KEY: 'secret' };
const PROFILE = { AWS_PROFILE: 'ok' };

test.each<[string, 'ok' | 'default', Scene]>([
  ['an access key beside AWS_PROFILE', 'ok', { environment: { ...PROFILE, ...OTHER_KEY } }],
  ['AWS_DEFAULT_PROFILE', 'default', { environment: { AWS_DEFAULT_PROFILE: 'other' } }],
  ['CDK_PROFILE beside AWS_PROFILE', 'ok', { environment: { ...PROFILE, CDK_PROFILE: 'default' } }],
  ['CDK_PROFILE alone', 'default', { environment: { CDK_PROFILE: 'other' } }],
  ['a profile in ~/.cdk.json', 'ok', { environment: PROFILE, cdkJson: { profile: 'default' } }],
  ['AMAZON_ACCESS_KEY_ID', 'default', { environment: OTHER_AMAZON_KEY }],
])('OPS-12 cdk deploys with the checked credentials despite %s', async (_what, checked, scene) => {
  const { aws, home } = await newScene(checked, scene);
  const script = join(home, 'script');
  writeFileSync(script, JSON.stringify({ exitCode: 0, deploys: true }));
  const cdk = [process.execPath, join(import.meta.dirname, '../fake-cdk.ts'), script];
  const { terminal, written } = scriptedTerminal(scene.environment);
  // The scripted AWS creates no stacks, so that the real command fails after its first calls.
  expect(await runDeployment(['dev'], { terminal, cdk, checkDeployed: () => Promise.resolve() })).toBe(1);
  expect(written.stderr).toContain(`AWS account ${ACCOUNT}, as`);
  const deployRoles = aws.calls.filter((call) => call.includes('role/cdk-acme-deploy-role'));
  expect(deployRoles.length, readFileSync(`${script}.output`, 'utf8')).toBeGreaterThan(1);
  expect(new Set(aws.signers)).toEqual(new Set(['AKIAOK', 'ASIAROLE']));
  expect(aws.calls.join('\n')).not.toContain(OTHER);
});

const runReal = async (assembly: string) => {
  const child = spawn(process.execPath, [realCdk, 'deploy', '--all', '--app', assembly], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, output: stdout + stderr };
};

test.each([
  ['roles', 'Could not assume role in target account using current credentials (which are for account'],
  ['the rights of the caller', `Need to perform AWS calls for account ${ACCOUNT}, but the current credentials are for`],
])('OPS-12 cdk rejects another account for a pinned assembly with %s', async (rights, problem) => {
  const { aws, home } = await newScene('ok', { environment: OTHER_KEY });
  const assembly = join(home, 'cdk.out');
  const resources = [{ Type: 'AWS::S3::Bucket' }];
  writeAssembly(assembly, [{ name: 'gateway-dev-data', region: 'us-east-1', resources }]);
  pinAccount(assembly, ACCOUNT);
  if (rights !== 'roles') {
    for (const file of ['manifest.json', 'gateway-dev-data.assets.json']) {
      const path = join(assembly, file);
      const withoutRoles = readFileSync(path, 'utf8').replaceAll(/"assumeRoleArn":"[^"]*",?/g, '');
      writeFileSync(path, withoutRoles.replaceAll(',}', '}'));
    }
  }
  const { code, output } = await runReal(assembly);
  expect(code).toBe(1);
  expect(output).toContain(`${problem} ${OTHER}`);
  // Beside its own identity, the other account asks only for roles of the checked one, and gets none.
  expect(new Set(aws.signers)).toEqual(new Set(['AKIAOTHER']));
  for (const call of aws.calls)
    expect(call).toMatch(new RegExp(`^(GetCallerIdentity$|AssumeRole arn:aws:iam::${ACCOUNT}:)`));
});
