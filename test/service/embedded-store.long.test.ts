import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditAll } from '../../lambdas/core/ledger/audit.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { systemClock } from '../../lambdas/functions/wiring/ledger.ts';
import { backUp } from '../../local/backup.ts';
import { openEmbeddedStores } from '../../local/embedded-stores.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startGateway } from '../support/gateway.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import { type Environment, until, within } from '../support/gateway-process.ts';
import { numbersFrom } from '../support/kill-random.ts';
import { newFolder, type TestProgram } from '../support/program.ts';
import { randomRuns } from '../support/random-runs.ts';
import { runCli } from './cli-process.ts';

const { seed, numRuns: ROUNDS } = randomRuns(import.meta.filename, { quick: 200, long: 200 });

let vendor: Simulator;
let folder: string;
beforeAll(async () => {
  vendor = await startSimulator({ recordedMax: 1_000 });
});
afterAll(() => vendor?.stop());
beforeEach(() => {
  vendor.reset();
  folder = newFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (environment: Environment = {}, path = folder): Promise<TestProgram> =>
  startGateway({ stores: 'engine', vendorUrl: vendor.url, folder: path, environment });

/** The client sets the token cap, so the gateway does not try a smaller hold (BILL-6). */
const body = { messages: saying('All say the same'), max_tokens: 400 };

/** Measures the hold of one request, in pico-USD. */
const measureHold = async (): Promise<bigint> => {
  const path = newFolder();
  const gateway = await start({}, path);
  const gate = vendor.gate();
  const pending = postChat(gateway, body);
  await within('the call', gate.waitFor(1));
  const { held } = await gateway.account();
  gate.open();
  await (await pending).text();
  await gateway.stop();
  rmSync(path, { recursive: true, force: true });
  return held;
};

test('BILL-2 two gateways and the CLI on one folder serve 7 of 200 requests with money for 7', async () => {
  const hold = await measureHold();
  const environment = { LOCAL_BALANCE_USD: formatUsd(hold * 7n) };
  const gateways = [await start(environment), await start(environment)];
  const gate = vendor.gate();
  const cli = (...args: string[]) => runCli(args, { DATA_DIR: folder });
  const pending = Array.from({ length: 200 }, (_, n) => postChat(gateways[n % 2]!, body));
  const statuses: number[] = [];
  for (const reply of pending) void reply.then(({ status }) => statuses.push(status));
  const audit = await cli('audit');
  expect(audit.status, audit.stderr).toBe(0);
  await until('193 refusals', () => (statuses.length >= 193 ? true : undefined), 60_000);
  await within('7 calls', gate.waitFor(7));
  gate.open();
  const replies = await Promise.all(pending);
  await Promise.all(replies.map((reply) => reply.text()));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(7);
  expect(replies.filter(({ status }) => status === 402)).toHaveLength(193);
  const after = await gateways[0]!.untilSettled();
  expect(after.balance).toBe((await gateways[1]!.account()).balance);
  // Both gateways show a credit of the CLI.
  const credited = await cli(
    'accounts',
    'credit',
    'local',
    '--amount',
    '1',
    '--ref',
    'one',
    '--reason',
    'a test',
    '--yes',
  );
  expect(credited.status, credited.stderr).toBe(0);
  for (const gateway of gateways) expect((await gateway.account()).balance).toBe(after.balance + 1_000_000_000_000n);
  for (const gateway of gateways) await gateway.stop();
  const last = await cli('audit');
  expect(last.status, last.stderr).toBe(0);
});

const shortLived = { HOLD_GRACE_SECONDS: '1', UPSTREAM_DEADLINE_SECONDS: '2', SWEEP_SECONDS: '1' };

/** Returns the errors of the balances in a data folder that no gateway uses. */
const problemsOf = async (path: string, answered: readonly string[]) => {
  const stores = await openEmbeddedStores(join(path, 'database'), { filesFolder: join(path, 'files') });
  const rows = stores.db.sql("SELECT request_id FROM charges WHERE outcome = 'settled'").all();
  const charged = new Set(rows.map(({ request_id: id }) => id));
  const ports = { store: stores.deps.ledgerStore, records: stores.deps.ledgerRecords, clock: systemClock };
  const audits = await Array.fromAsync(auditAll(ports));
  await stores.close();
  return {
    uncharged: answered.filter((id) => !charged.has(id)),
    audits: audits.map(({ openHolds, findings, overage }) => ({ openHolds, findings, overage })),
  };
};
const noProblems = { uncharged: [], audits: [{ openHolds: 0, findings: [], overage: [] }] };

/** Starts a gateway on a folder, and stops it when no hold is open. */
const settleAll = async (path: string): Promise<void> => {
  const gateway = await start(shortLived, path);
  await until('no hold', async () => ((await gateway.account()).openHolds === 0 ? true : undefined), 60_000);
  await gateway.stop();
};

test('OPS-10 a backup under load passes the audit and has every earlier charge', async () => {
  const gateway = await start({ ...shortLived, LOCAL_BALANCE_USD: '1000' });
  const answered = new Set<string>();
  const clients = Array.from({ length: CLIENTS }, () => sendUntilDead(gateway, answered));
  await until('50 responses', () => (answered.size >= 50 ? true : undefined));
  const before = [...answered];
  const copy = `${folder}-copy`;
  await backUp(folder, copy);
  await until('a response after the copy', () => (answered.size > before.length ? true : undefined));
  await gateway.kill('SIGKILL');
  await Promise.all(clients);
  expect([statSync(copy).mode & 0o777, existsSync(join(copy, 'secrets/pepper'))]).toEqual([0o700, true]);
  await settleAll(copy);
  expect(await problemsOf(copy, before)).toEqual(noProblems);
  await expect(backUp(folder, copy)).rejects.toThrow('it exists already');
  rmSync(copy, { recursive: true, force: true });
});

const random = numbersFrom(seed);
/** Number of gateways that run concurrently, each on its own folder. */
const SLOTS = 2;
const CLIENTS = 8;

/** Sends one request after another until the gateway is killed. Returns the ids of complete responses. */
const sendUntilDead = async (gateway: TestProgram, answered: Set<string>): Promise<void> => {
  for (let n = 0; ; n += 1) {
    const stream = n % 2 === 0;
    try {
      const reply = await postChat(gateway, {
        messages: saying(randomBytes(8).toString('hex')),
        stream,
        max_tokens: 50,
      });
      const text = await reply.text();
      const isWhole = reply.status === 200 && (!stream || text.includes('data: [DONE]'));
      if (isWhole) answered.add(reply.headers.get('x-request-id') ?? '');
    } catch {
      return;
    }
  }
};

const playLives = async (path: string, lives: number): Promise<ReadonlySet<string>> => {
  const answered = new Set<string>();
  const environment = { ...shortLived, LOCAL_BALANCE_USD: '1000' };
  for (let life = 0; life < lives; life += 1) {
    const gateway = await start(environment, path);
    const clients = Array.from({ length: CLIENTS }, () => sendUntilDead(gateway, answered));
    await sleep(random() * 400);
    await gateway.kill('SIGKILL');
    await Promise.all(clients);
  }
  await settleAll(path);
  return answered;
};

test(`BILL-14 ${ROUNDS} rounds of kill -9 lose no answered request, and the audit is clean`, {
  timeout: 1_200_000,
}, async () => {
  const paths = Array.from({ length: SLOTS }, newFolder);
  const played = await Promise.all(paths.map((path) => playLives(path, Math.ceil(ROUNDS / SLOTS))));
  for (const [slot, path] of paths.entries()) {
    const answered = [...(played[slot] ?? [])];
    expect(answered.length).toBeGreaterThan(ROUNDS / SLOTS);
    expect(await problemsOf(path, answered)).toEqual(noProblems);
    rmSync(path, { recursive: true, force: true });
  }
});
