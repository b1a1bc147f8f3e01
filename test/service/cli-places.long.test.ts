import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashApiKey } from '../../lambdas/core/accounts/keys.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createMaintenanceStore } from '../../lambdas/stores/dynamodb/maintenance-store.ts';
import { createTables, localDynamodbConfig } from '../../local/create-tables.ts';
import { openDataFolder } from '../../local/data-folder.ts';
import { startS3 } from '../../local/emulators/s3.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startGateway } from '../support/gateway.ts';
import type { TestProgram } from '../support/program.ts';
import { newFolder } from '../support/program.ts';
import { type ScriptedAws, startScriptedAws } from '../support/scripted-aws.ts';
import { runHere } from '../support/scripted-terminal.ts';
import { type CliResult, runCli } from './cli-process.ts';

const PEPPER = 'the pepper of a deployed environment';
const TOKEN = '123456:a-token-that-nobody-may-see';
const names = {
  accounts: 'gateway-dev-accounts',
  keys: 'gateway-dev-keys',
  idempotency: 'gateway-dev-idempotency',
  counters: 'gateway-dev-counters',
  videos: 'gateway-dev-videos',
};
const outputs = {
  ...Object.fromEntries(Object.entries(names).map(([table, name]) => [`${table}TableName`, name])),
  mediaBucketName: 'media',
  keyPepperSecretArn: 'arn:pepper',
  providerKeysSecretArn: 'arn:keys',
  botTokenSecretArn: 'arn:bot',
  topUpKeySecretArn: 'arn:top-up',
};
const secrets = {
  'arn:pepper': PEPPER,
  'arn:keys': '{"OPENAI_API_KEY":"vendor-secret"}',
  'arn:bot': TOKEN,
  'arn:top-up': 'a key of the payments',
};

let database: TestDynamodb;
let aws: ScriptedAws;
let folder: string;
let bucket: Awaited<ReturnType<typeof startS3>>;
const endings: (() => Promise<void>)[] = [];
beforeAll(async () => {
  database = await startTestDynamodb();
  await createTables(database.endpoint, names);
  folder = newFolder();
  bucket = await startS3(openDataFolder(folder));
  const webhook = { url: 'https://gateway.example/bot', pending_update_count: 2, last_error_message: 'Wrong answer' };
  const parameters = { '/gateway-dev/public-url': 'https://gateway.example/' };
  aws = await startScriptedAws({ stacks: { 'gateway-dev-data': outputs }, secrets, parameters, webhook });
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
  await aws?.stop();
  await bucket?.stop();
  await database?.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the CLI without a region in its environment variables. */
const deployed = (...args: readonly string[]): Promise<CliResult> => deployedWith({}, ...args);

const deployedWith = (variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<CliResult> =>
  runCli([...args, '--env', 'dev'], {
    ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
    ...{
      AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
      AWS_ENDPOINT_URL_SSM: aws.url,
      BOT_API_URL: aws.url,
    },
    ...{ DYNAMODB_ENDPOINT: database.endpoint, S3_ENDPOINT: bucket.endpoint, AWS_MAX_ATTEMPTS: '1' },
    ...variables,
  });

test('OPS-5 --env finds tables, bucket and pepper of an environment from its stack outputs', async () => {
  const issued = await deployed('keys', 'issue', 'first', '--create', '--reason', 'test', '--yes', '--json');
  expect(issued.status).toBe(0);
  expect(aws.asked).toEqual(['gateway-dev-data']);
  expect(issued.stderr).toContain(`table ${names.accounts} at `);
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const hash = hashApiKey(PEPPER, JSON.parse(issued.stdout).key);
  expect(await createKeyStore(createDatabases({ once: client, repeating: client }), names).read(hash)).toMatchObject({
    accountId: 'first',
    status: 'active',
  });
  client.destroy();
  const audit = await deployed('audit');
  expect(audit).toMatchObject({ status: 0, stdout: '1 accounts, 0 records, 0 open holds (0 expired): ok\n' });
});

test('OPS-15 maintenance of a deployed environment is an item of its counters table', async () => {
  const on = await deployed('maintenance', 'pause', '--yes', '--json');
  expect([on.status, JSON.parse(on.stdout)]).toEqual([0, { maintenance_before: 'off', maintenance: 'paused' }]);
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  expect(await createMaintenanceStore(createDynamoDB(client, Date.now), names.counters).read()).toBe('paused');
  client.destroy();
  const off = await deployed('maintenance', 'off', '--yes', '--json');
  expect(JSON.parse(off.stdout)).toEqual({ maintenance_before: 'paused', maintenance: 'off' });
});

test('OPS-5 the doctor checks a deployed environment and prints no secret', async () => {
  const { status, stdout, stderr } = await deployed('doctor', '--json');
  const checks: { check: string; status: string; detail: string }[] = JSON.parse(stdout).checks;
  const of = (name: string) => checks.find(({ check }) => check === name);
  expect(checks.filter((check) => check.status === 'failure')).toEqual([]);
  expect(status).toBe(0);
  expect(of('webhook')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('last error: Wrong answer'),
  });
  expect(of('provider keys')).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining('ANTHROPIC_API_KEY'),
  });
  expect(of('pepper')).toMatchObject({ status: 'ok' });
  expect(of('addresses')).toMatchObject({ status: 'ok', detail: 'https://gateway.example' });
  expect(of('credentials')).toMatchObject({ status: 'ok', detail: 'found, for us-east-1' });
  for (const secret of Object.values(secrets)) expect(`${stdout}${stderr}`).not.toContain(secret);
  expect(`${stdout}${stderr}`).not.toContain('vendor-secret');
});

test('OPS-5 the doctor reports missing AWS credentials', async () => {
  const unknown = {
    AWS_CONFIG_FILE: join(folder, 'none'),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const { status, stdout } = await runCli(['doctor', '--env', 'dev', '--json'], unknown);
  const checks: { check: string; status: string; advice?: string }[] = JSON.parse(stdout).checks;
  const gateway = { status: 'failure', advice: 'Log in, or deploy the environment.' };
  expect([status, checks.find(({ check }) => check === 'gateway')]).toMatchObject([1, gateway]);
});

test('OPS-5 the doctor reports an environment whose front door does not exist yet', async () => {
  const bare = await startScriptedAws({ stacks: { 'gateway-dev-data': outputs }, secrets });
  endings.push(() => bare.stop());
  const { stdout } = await deployedWith({ AWS_ENDPOINT_URL_SSM: bare.url }, 'doctor', '--json');
  const checks: { check: string; status: string }[] = JSON.parse(stdout).checks;
  expect(checks.find(({ check }) => check === 'addresses')).toMatchObject({ status: 'warning' });
});

test('OPS-5 a missing stack is reported by name', async () => {
  const bare = await startScriptedAws({ stacks: {}, secrets });
  endings.push(() => bare.stop());
  const { status, stdout, stderr } = await deployedWith(
    { AWS_ENDPOINT_URL_CLOUDFORMATION: bare.url },
    'accounts',
    'list',
  );
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toBe('The stack gateway-dev-data does not exist in us-east-1. Check AWS_PROFILE, or deploy it.\n');
});

test('OPS-12 an environment without an account rejects commands', async () => {
  const { status, stdout, stderr } = await runCli(['accounts', 'list', '--env', 'prod']);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(/^environments\.prod\.account: not set\. [^\n]*\n$/);
});

const unreachable = { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9', KEY_PEPPER: PEPPER };

test.each([
  ['accounts list'],
  ['accounts show x'],
  ['accounts block x --reason x --yes'],
  ['keys rotate x --reason x --yes'],
  ['usage export x'],
  ['holds list'],
  ['videos list --running'],
])('OPS-5 %s names the unavailable store, prints no stack trace, and exits with 1', async (line) => {
  const { status, stdout, stderr } = await runHere(line.split(' '), unreachable);
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toContain('at http://127.0.0.1:9 did not respond: connect ECONNREFUSED');
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('OPS-5 the doctor reports a clock that is off by more than 30 s, and missing tables', async () => {
  const late = await startScriptedAws({ stacks: {}, secrets: {} }, -45_000);
  endings.push(() => late.stop());
  const { status, stdout } = await runHere(['doctor'], { DYNAMODB_ENDPOINT: late.url, DATA_DIR: folder });
  expect(status).toBe(1);
  expect(stdout).toMatch(/^failure +clock +4\d\.\d s ahead of the store {2}-> /m);
  expect(stdout).toMatch(/^failure +tables +accounts: /m);
  expect(stdout).toMatch(/^failure +pepper +/m);
});

test('OPS-5 the doctor finds wrong bot settings and never prints the token', async () => {
  const places = { DYNAMODB_ENDPOINT: database.endpoint, S3_ENDPOINT: bucket.endpoint, KEY_PEPPER: PEPPER };
  const wrong = await runHere(['doctor'], { ...places, BOT_TOKEN: 'no-token' });
  expect(wrong.stdout).toMatch(/^failure +bot token +BOT_TOKEN is not a valid bot token/m);
  for (const BOT_API_URL of ['http://127.0.0.1:9', `${aws.url}/nothing`]) {
    const { stdout } = await runHere(['doctor'], { ...places, BOT_TOKEN: TOKEN, BOT_API_URL, PUBLIC_URL: 'http://x/' });
    expect(stdout).toMatch(/^failure +webhook +/m);
    expect(stdout).not.toContain(TOKEN);
  }
});

test('OPS-5 the CLI works with a local gateway, running or stopped, including bucket and pepper', async () => {
  const vendor: Simulator = await startSimulator();
  const data = newFolder();
  const gateway: TestProgram = await startGateway({ stores: 'engine', vendorUrl: vendor.url, folder: data });
  try {
    const running = await runHere(['doctor'], { DATA_DIR: data });
    expect(running.stdout).not.toMatch(/^failure/m);
    expect(running.status).toBe(0);
    const reason = ['--reason', 'x', '--yes'];
    expect((await runHere(['keys', 'rotate', 'local', ...reason], { DATA_DIR: data })).status).toBe(0);
    await gateway.stop();
    const stopped = await runHere(['doctor', '--json'], { DATA_DIR: data });
    expect(JSON.parse(stopped.stdout)).toMatchObject({ ok: true });
    const credit = ['accounts', 'credit', 'local', '--amount', '1', '--ref', 'r', ...reason, '--json'];
    const { stdout } = await runHere(credit, { DATA_DIR: data });
    expect(JSON.parse(stdout)).toMatchObject({ balance_before_usd: '10', balance_after_usd: '11' });
    expect(existsSync(`${data}/lock`)).toBe(false);
  } finally {
    await gateway.stop();
    await vendor.stop();
    rmSync(data, { recursive: true });
  }
});
