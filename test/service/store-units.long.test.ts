import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountUnits } from '../../bin/costs/account-writes.ts';
import { MEASURED_HOLDS } from '../../bin/costs/tables.ts';
import { type Workload, workloads } from '../../bin/costs/workloads.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { newRequestId } from '../../lambdas/functions/wiring/ledger.ts';
import { createAccountStore } from '../../lambdas/stores/dynamodb/account-store.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../../local/create-tables.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startGateway } from '../support/gateway.ts';
import { sdkFor } from '../support/gateway-chat.ts';
import { until } from '../support/gateway-process.ts';
import type { TestProgram } from '../support/program.ts';
import { type CapacityProxy, startCapacityProxy } from './capacity-proxy.ts';

let vendor: Simulator;
let database: TestDynamodb;
let proxy: CapacityProxy;
let gateway: TestProgram;

beforeAll(async () => {
  [vendor, database] = await Promise.all([startSimulator(), startTestDynamodb()]);
  proxy = await startCapacityProxy(database.endpoint);
  gateway = await startGateway({
    stores: 'engine',
    vendorUrl: vendor.url,
    // The sweeper's calls would be counted.
    environment: { DYNAMODB_ENDPOINT: proxy.endpoint, LOCAL_BALANCE_USD: '100', SWEEP_SECONDS: '3600' },
  });
});
afterAll(async () => {
  await gateway?.stop();
  for (const part of [proxy, database, vendor]) await part?.stop();
});

const unitsOf = (kind: 'write' | 'read'): number =>
  proxy.taken.filter((call) => call.kind === kind).reduce((sum, { units }) => sum + units, 0);

const post = async (path: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect([await response.text(), response.status]).toEqual([expect.anything(), 200]);
};

/**
 * Measures the second run, when the process has filled its short-lived caches, or a later one: after slow calls, the
 * process counts client IPs on its own for some seconds.
 */
const takenBy = async (run: () => Promise<void>): Promise<void> => {
  await run();
  await proxySettles();
  do {
    proxy.forget();
    await run();
    await proxySettles();
  } while (!proxy.taken.some(({ table, kind }) => table === 'counters' && kind === 'write'));
};

const proxySettles = async (): Promise<void> => {
  let before = -1;
  while (before !== proxy.taken.length) {
    before = proxy.taken.length;
    await sleep(300);
  }
};

const messages = [{ role: 'user', content: 'Say hello. '.repeat(90) }];

test.each<readonly [string, string, object, Workload]>([
  ['a short chat', '/v1/chat/completions', { model: 'gpt-5.4-mini', messages }, workloads.shortChat],
  ['a stream', '/v1/chat/completions', { model: 'claude-sonnet-5', stream: true, messages }, workloads.longStream],
  ['an embedding', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'hello' }, workloads.embedding],
  ['an image', '/v1/images/generations', { model: 'gpt-image-2-fixed', prompt: 'A hill' }, workloads.image],
])('the write units of %s equal those of its cost estimate', async (_title, path, body, workload) => {
  await takenBy(() => post(path, body));
  expect(unitsOf('write')).toBe(workload.writeUnits);
  expect(unitsOf('read')).toBeLessThanOrEqual(workload.readUnits);
});

/** Write units of the hold, the record and the end of a request. An item takes one unit per started KB. */
test.for(MEASURED_HOLDS)('BILL-1 with %i open holds, a chat takes the write units of its estimate', async (open) => {
  const client = new DynamoDBClient(localDynamodbConfig(proxy.endpoint));
  const db = createDatabases({ once: client, repeating: client });
  const accountId = newRequestId();
  const key = { hash: accountId, label: { prefix: 'sk-service-ab', lastFour: 'abcd' }, pepperId: '1', isShown: true };
  const chat = { accountId, chatId: accountId, key, creditPicos: 100_000_000_000_000n, atMs: Date.now() };
  await createAccountStore(db.repeating, localTableNames).open(chat);
  const store = createLedgerStore(db, localTableNames.accounts);
  const amountPicos = 12_345_678_901n;
  const hold = async (): Promise<string> => {
    const holdId = `${newRequestId()}.0`;
    const times = { expiresAtMs: Date.now() + 900_000, sweepAtMs: Date.now() + 900_000, previousHoldId: undefined };
    expect(await store.hold({ accountId, holdId, amountPicos, ...times })).toMatchObject({ kind: 'held' });
    return holdId;
  };
  for (let held = 0; held < open; held += 1) await hold();
  proxy.forget();
  const holdId = await hold();
  const requestId = holdId.slice(0, -2);
  const used = {
    model: 'gpt-5.4-mini',
    usage: { input: 280, output: 32 },
    prices: { input: 750_000n, output: 4_500_000n },
  };
  const record = {
    accountId,
    holdId,
    requestId,
    outcome: 'settled',
    amountPicos: 9n,
    at: Date.now(),
    ...used,
  } as const;
  await store.putRecord(record);
  expect(await store.apply(record, amountPicos, chat.atMs)).toBeDefined();
  expect(unitsOf('write')).toBe(accountUnits(open));
});

test('an idempotency key adds three write units, and two per further KB of the response', async () => {
  let sent = 0;
  await takenBy(() => {
    sent += 1;
    const short = { model: 'gpt-5.4-mini', max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    return post('/v1/chat/completions', short, { 'idempotency-key': `order-${sent}` });
  });
  expect(unitsOf('write')).toBeGreaterThanOrEqual(workloads.shortChat.writeUnits + 3);
  expect(unitsOf('write')).toBeLessThanOrEqual(workloads.shortChat.writeUnits + 5);
});

test('the write units of a video with one poll equal those of its cost estimate', async () => {
  // The first hold of an account without holds also writes to the sweep list.
  await post('/v1/chat/completions', { model: 'gpt-5.4-mini', messages });
  await proxySettles();
  proxy.forget();
  const sdk = sdkFor(gateway);
  const boat = { prompt: 'A boat [[takes 500]]', seconds: '4', size: '1280x720' } as const;
  const { id } = await sdk.videos.create({ model: 'seedance-2-0-fast', ...boat });
  await until('the end of the video', async () => {
    const { status } = await sdk.videos.retrieve(id);
    return status === 'completed' || undefined;
  });
  await proxySettles();
  // Each request writes to an API key item, and to a client IP item unless earlier calls were slow.
  const others = proxy.taken.filter(({ table, kind }) => kind === 'write' && table !== 'keys' && table !== 'counters');
  const { writeUnits, requests } = workloads.video;
  expect(others.reduce((sum, { units }) => sum + units, 0)).toBe(writeUnits - 2 * requests);
});
