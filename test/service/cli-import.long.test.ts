import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { hashApiKey } from '../../lambdas/core/accounts/keys.ts';
import { balanceOf } from '../../lambdas/core/ledger/ledger.ts';
import { PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { within } from '../support/gateway-process.ts';
import { runHere } from '../support/scripted-terminal.ts';
import { openTables } from './cli-scene.ts';

const PEPPER = 'a pepper for the tests of the import';
const program = join(import.meta.dirname, '../../bin/cli.ts');

let database: TestDynamodb;
let stores: ReturnType<typeof openTables>;
let folder: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  database = await startTestDynamodb();
  stores = openTables(database.endpoint);
  folder = mkdtempSync(join(tmpdir(), 'cli-import-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  stores.client.destroy();
  await database.stop();
  rmSync(folder, { recursive: true });
});

const environment = () => ({ DYNAMODB_ENDPOINT: database.endpoint, KEY_PEPPER: PEPPER });

const importing = (batch: string, path: string, ...more: readonly string[]): readonly string[] => [
  ...['import', path, '--ref', batch, '--reason', 'moved here', '--yes', '--keys-out', join(folder, `${batch}.keys`)],
  ...more,
];

const write = (name: string, ...lines: readonly string[]): string => {
  const path = join(folder, name);
  writeFileSync(path, `account,balance_usd\r\n${lines.map((line) => `${line}\r\n`).join('')}`);
  return path;
};

const keysIn = (batch: string): readonly (readonly [account: string, apiKey: string])[] =>
  readFileSync(join(folder, `${batch}.keys`), 'utf8')
    .split('\n')
    .slice(1, -1)
    .map((line) => {
      const [, account = '', apiKey = ''] = line.split(',');
      return [account, apiKey];
    });

/** Checks that the accounts of the batch are exactly those of the import. */
const expectImported = async (batch: string, balances: ReadonlyMap<string, bigint>): Promise<void> => {
  const records = createLedgerRecords(createDynamoDB(stores.client, Date.now), localTableNames.accounts);
  const { Items = [] } = await stores.client.send(new ScanCommand({ TableName: localTableNames.keys }));
  const told = new Map(keysIn(batch));
  expect(
    keysIn(batch)
      .map(([account]) => account)
      .toSorted(),
  ).toEqual([...balances.keys()].toSorted());
  for (const [account, balance] of balances) {
    const found = await stores.ledger.readAccount(account);
    expect([account, found && balanceOf(found)]).toEqual([account, balance]);
    expect((await records.readCredits(account)).map(({ ref }) => ref)).toEqual([`import:${batch}:${account}`]);
    const hash = hashApiKey(PEPPER, told.get(account) ?? '');
    expect(await stores.keys.read(hash)).toMatchObject({ accountId: account, status: 'active' });
    expect((await stores.keys.currentKey(account))?.hash).toBe(hash);
    expect(Items.filter(({ accountId }) => accountId?.S === account)).toHaveLength(1);
    expect((await runHere(['audit', '--account', account], environment())).status).toBe(0);
  }
};

/**
 * Runs the import as a program and kills it after this number of API keys. Returns whether the program succeeded
 * before.
 */
const killedAt = async (args: readonly string[], keyFile: string, lines: number): Promise<boolean> => {
  const env = { PATH: process.env.PATH ?? '', ...environment() };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' });
  children.push(child);
  const ended = new Promise<boolean>((resolve) => child.once('exit', (code) => resolve(code === 0)));
  const written = (): number => (existsSync(keyFile) ? readFileSync(keyFile, 'utf8').split('\n').length - 2 : 0);
  const deadline = Date.now() + 60_000;
  while (written() < lines && child.exitCode === null && Date.now() < deadline) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  child.kill('SIGKILL');
  return within('the end of the import', ended);
};

test('OPS-5 an import killed at any row and repeated has the same balances and working API keys', async () => {
  const accounts = Array.from({ length: 80 }, (_, at) => [`moved-${at}`, BigInt(at)] as const);
  const path = write('moved.csv', ...accounts.map(([account, usd]) => `${account},${usd}`));
  const args = importing('kill', path);
  const keyFile = join(folder, 'kill.keys');
  let kills = 0;
  for (let lines = 0; lines < accounts.length; ) {
    lines += 1 + Math.floor(Math.random() * 30);
    if (!(await killedAt(args, keyFile, Math.min(lines, accounts.length)))) kills += 1;
  }
  expect(kills).toBeGreaterThan(1);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const balances = new Map(accounts.map(([account, usd]) => [account, usd * PICOS_PER_USD]));
  expect((await runHere(args, environment())).status).toBe(0);
  await expectImported('kill', balances);
  const file = readFileSync(keyFile, 'utf8');
  const again = await runHere([...args, '--json'], environment());
  expect(again.status).toBe(0);
  expect(JSON.parse(again.stdout).data.every(({ repeated }: { repeated: boolean }) => repeated)).toBe(true);
  await expectImported('kill', balances);
  expect(readFileSync(keyFile, 'utf8')).toBe(file);
});

test('OPS-5 an import with another amount for the same account exits with 3 and changes nothing', async () => {
  expect((await runHere(importing('twice', write('twice.csv', 'twice-1,5')), environment())).status).toBe(0);
  const changed = write('changed.csv', 'twice-1,6', 'twice-2,1');
  const { status, stdout } = await runHere(importing('twice', changed), environment());
  expect(status).toBe(3);
  expect(stdout).toMatch(/^ +2 +twice-1 +balance_usd: this import has already credited 5 USD\. .*$/m);
  expect(await stores.ledger.readAccount('twice-2')).toBeUndefined();
  expect((await runHere(importing('twice', changed, '--skip-refused'), environment())).status).toBe(0);
  await expectImported(
    'twice',
    new Map([
      ['twice-1', 5n * PICOS_PER_USD],
      ['twice-2', PICOS_PER_USD],
    ]),
  );
  const next = await runHere(importing('second', changed, '--json'), environment());
  expect(JSON.parse(next.stdout).data).toMatchObject([
    { account: 'twice-1', opened: false, balance_before_usd: '5', balance_after_usd: '11' },
    { account: 'twice-2', opened: false, balance_before_usd: '1', balance_after_usd: '2' },
  ]);
});
