import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isApiKey } from '../../lambdas/core/accounts/keys.ts';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { hasDynamodb } from '../support/dynamodb.ts';
import { startGateway } from '../support/gateway.ts';
import { postChat, readError, saying, spentBy } from '../support/gateway-chat.ts';
import { type Environment, spawnLocal, until, within } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { environmentFor, newFolder } from '../support/program.ts';
import { runCli } from './cli-process.ts';
import { databasesOf } from './gateway-children.ts';

let vendor: Simulator;
let folder: string;
const running: TestProgram[] = [];

beforeAll(async () => {
  vendor = await startSimulator();
});
afterAll(() => vendor.stop());
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const gateway of running.splice(0)) await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(environment: Environment = {}, args: readonly string[] = []): Promise<TestProgram> {
  const gateway = await startGateway({ stores: 'engine', vendorUrl: vendor.url, folder, environment, args });
  running.push(gateway);
  return gateway;
}

/** Checks that a start fails. Returns its exit code and messages. */
async function failToStart(environment: Environment, args: readonly string[] = []) {
  const local = spawnLocal({ ...environmentFor(folder, vendor.url), ...environment }, args);
  try {
    const code = await within('the end of a failed start', local.end);
    return { code, stdout: local.stdout(), lines: local.stderr().trimEnd().split('\n') };
  } finally {
    local.kill('SIGKILL');
  }
}

test('AUTH-5 a first start prints a well-formed key, and the balance is the configured one', async () => {
  const gateway = await start({ LOCAL_BALANCE_USD: '3.25' });
  expect(isApiKey(gateway.apiKey)).toBe(true);
  expect(gateway.output()).toContain('3.25 USD');
  expect(await gateway.account()).toEqual({
    balance: parseUsd('3.25'),
    available: parseUsd('3.25'),
    held: 0n,
    openHolds: 0,
  });
});

test('key and balance survive a restart, and --reset creates new ones', async () => {
  const first = await start({ LOCAL_BALANCE_USD: '3' });
  const { spent } = await spentBy(first, () => postChat(first, { messages: saying('hello') }));
  expect(spent).toBeGreaterThan(0n);
  expect(await first.kill('SIGTERM')).toBe(0);

  // LOCAL_BALANCE_USD applies only when the account is created.
  const second = await start({ LOCAL_BALANCE_USD: '5' });
  expect(second.apiKey).toBe(first.apiKey);
  expect((await second.account()).balance).toBe(parseUsd('3') - spent);
  await second.kill('SIGTERM');

  const third = await start({ LOCAL_BALANCE_USD: '5' }, ['--reset']);
  expect(third.apiKey).not.toBe(first.apiKey);
  expect((await third.account()).balance).toBe(parseUsd('5'));
  const old = await fetch(`${third.url}/v1/models`, { headers: { authorization: `Bearer ${first.apiKey}` } });
  expect(old.status).toBe(401);
});

test('AUTH-5 a malformed LOCAL_API_KEY is rejected with an example that is accepted', async () => {
  const { code, stdout, lines } = await failToStart({ LOCAL_API_KEY: 'sk-service-short' });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^LOCAL_API_KEY: /);
  const [example = ''] = /sk-service-\w{49}/.exec(lines[0] ?? '') ?? [];
  expect(isApiKey(example)).toBe(true);
  expect((await start({ LOCAL_API_KEY: example })).apiKey).toBe(example);
});

test.each([
  ['PORT', 'eighty'],
  ['PORT', '65536'],
  ['LOCAL_BALANCE_USD', '-1'],
  ['LOCAL_BALANCE_USD', 'much'],
  ['DYNAMODB_ENDPOINT', 'localhost:8000'],
  ['LIMIT_KEY_PER_SECOND', '0'],
  ['HOLD_GRACE_SECONDS', 'soon'],
  ['UPSTREAM_DEADLINE_SECONDS', '901'],
  ['MARKUP', '-2'],
  ['UNCOLLECTED_DAILY_USD', '-1'],
])('an invalid value in %s=%s is rejected in one line that names the variable', async (name, value) => {
  const { code, stdout, lines } = await failToStart({ [name]: value });
  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(lines).toHaveLength(1);
  expect(lines[0]?.startsWith(`${name}: `)).toBe(true);
});

test('a port in use is reported in one line, and no process is left', async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => {
      const address = other.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  try {
    const { code, stdout, lines } = await failToStart({ PORT: String(port) });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(lines).toEqual([expect.stringMatching(/port is in use/i)]);
  } finally {
    other.close();
  }
});

test('a folder with files of another program is rejected and unchanged', async () => {
  writeFileSync(join(folder, 'thesis.txt'), 'all my work');
  const { code, lines } = await failToStart({}, ['--reset']);
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringContaining(folder)]);
});

test('OPS-6 production has CLI accounts, no simulation, and no printed secrets', async () => {
  const production = { MODE: 'production', TOP_UP_KEY: 'a secret of the payment provider', DATA_DIR: folder };
  const local = spawnLocal({ ...production, HOST: '0.0.0.0' });
  try {
    const url = await until('the ready line', () => /^ready (http:\S+)$/m.exec(local.stdout())?.[1]);
    const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
    expect([await statusOf('/'), await statusOf('/local/events'), await statusOf('/health')]).toEqual([404, 404, 200]);
    const cli = async (...args: string[]): Promise<string> => {
      const { status, stdout, stderr } = await runCli([...args, '--reason', 'a test', '--yes'], { DATA_DIR: folder });
      expect(status, stderr).toBe(0);
      return stdout;
    };
    const [apiKey = ''] = /sk-service-\w{49}/.exec(await cli('keys', 'issue', 'acme', '--create')) ?? [];
    await cli('accounts', 'credit', 'acme', '--amount', '5', '--ref', 'first');
    const reply = await postChat({ url, apiKey }, { messages: saying('hello') });
    expect([reply.status, (await readError(reply)).code]).toEqual([503, 'model_unavailable']);
    local.kill('SIGTERM');
    expect(await within('the end', local.end)).toBe(0);
    const pepper = readFileSync(join(folder, 'secrets/pepper'), 'utf8');
    const output = `${local.stdout()}${local.stderr()}`;
    for (const secret of [pepper, production.TOP_UP_KEY, 'sk-service-']) expect(output).not.toContain(secret);

    expect(await failToStart({})).toMatchObject({ code: 1, lines: [expect.stringContaining('Set MODE=production')] });
    const reset = await failToStart(production, ['--reset']);
    expect(reset).toMatchObject({ code: 2, lines: [expect.stringContaining('--reset: allowed in development only')] });
    const careless = await failToStart({}, ['--reset']);
    expect(careless).toMatchObject({ code: 1, lines: [expect.stringContaining('a gateway in production')] });
    rmSync(join(folder, 'secrets/pepper'));
    const lost = await failToStart(production);
    expect(lost).toMatchObject({ code: 1, lines: [expect.stringContaining('has lost secrets/pepper')] });
  } finally {
    local.kill('SIGKILL');
  }
});

test('OPS-6 a host that other machines can reach requires production', async () => {
  const { code, stdout, lines } = await failToStart({ HOST: '0.0.0.0' });
  expect([code, stdout]).toEqual([2, '']);
  expect(lines).toEqual(['HOST: other machines can reach 0.0.0.0. Set MODE=production, or use 127.0.0.1.']);
});

test('OPS-7 two programs serve one data folder, and a reset waits for both', async () => {
  const [first, second] = [await start(), await start()];
  expect(second.apiKey).toBe(first.apiKey);
  const spent = [first, second].map(async (gateway) => {
    const response = await postChat(gateway, { messages: saying('hello') });
    await response.text();
    return parseUsd(response.headers.get('x-service-cost-usd') ?? '');
  });
  const [one = 0n, other = 0n] = await Promise.all(spent);
  expect((await first.account()).balance).toBe(parseUsd('10') - one - other);
  const { code, lines } = await failToStart({}, ['--reset']);
  expect([code, lines]).toEqual([1, [expect.stringMatching(/in use by process \d+/)]]);
  expect((await second.account()).balance).toBe(parseUsd('10') - one - other);
});

test.each(['SIGINT', 'SIGTERM'] as const)('OPS-6 %s ends the program', async (signal) => {
  const gateway = await start();
  expect(await gateway.kill(signal)).toBe(0);
  await expect(fetch(`${gateway.url}/health`)).rejects.toThrow();
});

const DYNAMODB = ['--store', 'dynamodb'];

describe.skipIf(!hasDynamodb)('on the emulator of DynamoDB', () => {
  test('a second program on the same data is rejected, and the first one continues', async () => {
    const first = await start({}, DYNAMODB);
    const { code, lines } = await failToStart({}, DYNAMODB);
    expect([code, lines]).toEqual([1, [expect.stringMatching(/in use by process \d+/)]]);
    const response = await postChat(first, { messages: saying('hello') });
    expect(response.status).toBe(200);
    expect(databasesOf(folder)).toHaveLength(1);
  });

  test('OPS-7 SIGTERM ends the database, and embedded stores do not open its data', async () => {
    const gateway = await start({}, DYNAMODB);
    expect(databasesOf(folder)).toHaveLength(1);
    expect(await gateway.kill('SIGTERM')).toBe(0);
    expect(databasesOf(folder)).toEqual([]);
    const { code, lines } = await failToStart({});
    expect([code, lines]).toEqual([1, [expect.stringContaining('npm start -- --store dynamodb')]]);
  });

  test('the next start stops the database that a kill -9 left behind', async () => {
    const first = await start({}, DYNAMODB);
    const [orphan] = databasesOf(folder);
    await first.kill('SIGKILL');
    expect(databasesOf(folder)).toEqual([orphan]);
    const second = await start({}, DYNAMODB);
    expect(second.apiKey).toBe(first.apiKey);
    expect(databasesOf(folder)).toHaveLength(1);
    expect(databasesOf(folder)).not.toContain(orphan);
  });
});

test('BILL-15 Ctrl-C during a response lets it complete and be charged', async () => {
  const gateway = await start();
  const funds = await gateway.account();
  const gate = vendor.gate();
  const pending = postChat(gateway, { messages: saying('hello') });
  await within('the request to reach the provider', gate.waitFor(1));
  const end = gateway.kill('SIGINT');
  gate.open();
  const response = await pending;
  expect(response.status).toBe(200);
  await response.text();
  expect(await end).toBe(0);
  const cost = parseUsd(response.headers.get('x-service-cost-usd') ?? '');
  const after = await (await start()).account();
  expect(after).toMatchObject({ balance: funds.balance - cost, held: 0n, openHolds: 0 });
});

/** Reads the state that the page at `/` receives. */
const readState = async ({ url }: TestProgram): Promise<{ local_key: unknown; messenger?: { init_data: string } }> =>
  (await fetch(`${url}/local/state`)).json();

test('the page at / has the API key, and the welcome message names the page', async () => {
  const gateway = await start();
  const page = await fetch(`${gateway.url}/`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(gateway.output()).toContain(`Open ${gateway.url}/ `);
  expect((await readState(gateway)).local_key).toEqual({ kind: 'current', value: gateway.apiKey });
});

test('the simulated messenger has its own bot token, which survives a restart', async () => {
  const first = await start();
  const readSecrets = () =>
    ['bot-token', 'top-up-key'].map((name) => readFileSync(join(folder, 'secrets', name), 'utf8'));
  const secrets = readSecrets();
  expect(secrets[0]).toMatch(/^\d+:[\w-]{35}$/);
  const { messenger } = await readState(first);
  await first.kill('SIGTERM');
  const second = await start();
  expect(readSecrets()).toEqual(secrets);
  // Init data signed before the restart is still valid; the user has no account yet.
  const response = await fetch(`${second.url}/app/api/account`, {
    headers: { authorization: `tma ${messenger?.init_data}` },
  });
  expect(response.status).toBe(404);
  expect(secrets.filter((secret) => second.output().includes(secret))).toEqual([]);
});

test('Ctrl-C ends the event stream of an open page properly', async () => {
  const gateway = await start();
  const events = await fetch(`${gateway.url}/local/events`);
  const read = events.text();
  expect(await gateway.kill('SIGINT')).toBe(0);
  expect(await read).toContain('retry: ');
});
