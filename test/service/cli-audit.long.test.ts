import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AttributeValue, DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startGateway } from '../support/gateway.ts';
import { allEvents, postChat, saying } from '../support/gateway-chat.ts';
import { readAccount } from '../support/hostile-account.ts';
import type { TestProgram } from '../support/program.ts';
import { newFolder } from '../support/program.ts';
import { type CliResult, runCli } from './cli-process.ts';
import { type Issuer, openIssuer } from './hostile-issuer.ts';

let vendor: Simulator;
let database: TestDynamodb;
let gateway: TestProgram;
let client: DynamoDBClient;
let issuer: Issuer;

beforeAll(async () => {
  vendor = await startSimulator();
  database = await startTestDynamodb();
  client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  gateway = await startGateway({
    stores: 'engine',
    vendorUrl: vendor.url,
    environment: { DYNAMODB_ENDPOINT: database.endpoint },
  });
  issuer = openIssuer(database.endpoint, gateway.folder);
});
afterAll(async () => {
  issuer.close();
  client.destroy();
  await gateway.stop();
  await database.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const audit = (...args: readonly string[]): Promise<CliResult> =>
  runCli(['audit', ...args], { DYNAMODB_ENDPOINT: database.endpoint, ACCOUNTS_TABLE: localTableNames.accounts });

const newcomer = async (): Promise<TestProgram & { readonly accountId: string }> => {
  const mine = { ...gateway, apiKey: await issuer.issue('5') };
  const port = Number(new URL(gateway.url).port);
  return { ...mine, accountId: (await readAccount(port, mine.apiKey)).id };
};

/** Sends a charged request. Returns its hold id. */
const charged = async (by: TestProgram, words = 'hello'): Promise<string> => {
  const response = await postChat(by, { messages: saying(words), max_tokens: 20 });
  await response.text();
  return `${response.headers.get('x-request-id')}.0`;
};

const change = (accountId: string, sk: string, update: string, values: Record<string, AttributeValue>) =>
  client.send(
    new UpdateItemCommand({
      TableName: localTableNames.accounts,
      Key: { pk: { S: `account#${accountId}` }, sk: { S: sk } },
      UpdateExpression: update,
      ExpressionAttributeValues: values,
    }),
  );

test('OPS-5 the audit of a correct service exits with 0 and prints its totals', async () => {
  const mine = await newcomer();
  await charged(mine);
  await charged(mine, 'hello [[status 500]]');
  await allEvents(await postChat(mine, { messages: saying('hello'), stream: true }));
  expect(await audit('--account', mine.accountId)).toEqual({
    status: 0,
    stdout: '1 accounts, 3 records, 0 open holds (0 expired): ok\n',
    stderr: `table accounts at ${database.endpoint}\n`,
  });
  const all = JSON.parse((await audit('--json')).stdout);
  expect(all).toMatchObject({ ok: true, findings: [], unstable: [] });
  expect(all.accounts).toBeGreaterThan(1);
});

test.each<
  readonly [invariant: string, sk: (holdId: string) => string, update: string, values: Record<string, AttributeValue>]
>([
  ['charge-as-priced', (holdId) => `CHARGE#${holdId}`, 'SET amount = amount + :one', { ':one': { N: '1' } }],
  ['spent', () => 'ACCOUNT', 'SET spent = spent + :one', { ':one': { N: '1' } }],
  ['balance', () => 'ACCOUNT', 'SET available = available - :one', { ':one': { N: '1' } }],
  ['credited', () => 'CREDIT#first', 'SET amount = :one', { ':one': { N: '1' } }],
  ['readable', (holdId) => `CHARGE#${holdId}`, 'SET amount = :lost', { ':lost': { S: 'lost' } }],
])('OPS-5 the audit reports a changed item as "%s" with account and record, and exits with 1', async (...row) => {
  const [invariant, sk, update, values] = row;
  const mine = await newcomer();
  const holdId = await charged(mine);
  await change(mine.accountId, sk(holdId), update, values);
  const { status, stdout } = await audit('--account', mine.accountId);
  expect(status).toBe(1);
  const line = stdout.split('\n').find((text) => text.includes(`  ${invariant}  `)) ?? '';
  expect(line).toMatch(new RegExp(`^${mine.accountId}  `));
  if (sk(holdId).startsWith('CHARGE#')) expect(line).toContain(holdId);
  const whole = await audit('--json', '--account', mine.accountId);
  expect(whole.status).toBe(1);
  const { ok, findings } = JSON.parse(whole.stdout);
  expect(ok).toBe(false);
  expect(findings).toContainEqual(expect.objectContaining({ account: mine.accountId, invariant }));
});

test('OPS-5 the audit of a data folder works while the local gateway runs and when it is stopped', async () => {
  const folder = newFolder();
  const local = await startGateway({ stores: 'engine', vendorUrl: vendor.url, folder });
  try {
    await charged(local);
    const expected = { status: 0, stdout: '1 accounts, 1 records, 0 open holds (0 expired): ok\n' };
    expect(await runCli(['audit'], { DATA_DIR: folder })).toMatchObject(expected);
    await charged(local);
    await local.stop();
    const stopped = { ...expected, stdout: expected.stdout.replace('1 records', '2 records') };
    expect(await runCli(['audit'], { DATA_DIR: folder, AWS_REGION: 'eu-central-1' })).toMatchObject(stopped);
    expect([existsSync(join(folder, 'lock')), existsSync(join(folder, 'dynamodb/child.json'))]).toEqual([false, false]);
  } finally {
    await local.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('OPS-5 a failed audit exits with 1, wrong usage with 2', async () => {
  expect(await audit('--account', 'nobody')).toMatchObject({ status: 1, stdout: '' });
  const empty = mkdtempSync(join(tmpdir(), 'gateway-audit-'));
  const nothing = await runCli(['audit'], { DATA_DIR: join(empty, 'none') });
  expect(nothing).toMatchObject({ status: 1, stdout: '' });
  expect(nothing.stderr).toContain('DATA_DIR');
  expect(existsSync(join(empty, 'none'))).toBe(false);
  rmSync(empty, { recursive: true });
  const down = await runCli(['audit', '--endpoint', 'http://127.0.0.1:9']);
  expect([down.status, down.stdout]).toEqual([1, '']);
  expect(down.stderr).toContain('table accounts at http://127.0.0.1:9 did not respond');
  expect((await runCli(['audit', '--nope'])).status).toBe(2);
});
