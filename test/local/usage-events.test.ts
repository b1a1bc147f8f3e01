import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { CloudEvent } from '../../lambdas/core/event-publisher.ts';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore as createDynamodbLedger } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { createLedgerStore } from '../../local/stores/sqlite/ledger-store.ts';
import { followQueue, followStream, type UsageDeliveryOptions } from '../../local/usage-events.ts';
import { chargeOf, requestOf } from '../lambdas/functions/wiring/usage-events-records.ts';
import { hasDynamodb, startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { openTestDatabase } from '../support/sqlite.ts';

let dynamodb: TestDynamodb;
let clients: ReturnType<typeof createClients>;
beforeAll(async () => {
  if (!hasDynamodb) return;
  dynamodb = await startTestDynamodb();
  clients = createClients({ endpoint: dynamodb.endpoint, region: 'us-east-1' });
});
afterAll(async () => {
  for (const client of Object.values(clients ?? {})) client.destroy();
  await dynamodb?.stop();
});

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

/** A receiver that records the ids of confirmed events, and fails while `isDown`. */
const createReceiver = () => {
  const state = { isDown: false, calls: 0, ids: [] as string[], notices: [] as string[], failures: [] as string[] };
  const publish = async (events: readonly CloudEvent[]) => {
    state.calls += 1;
    if (state.isDown) return { failed: new Set(events.map(({ id }) => id)), reason: 'down' };
    state.ids.push(...events.map(({ id }) => id));
    return { failed: new Set<string>() };
  };
  const options: UsageDeliveryOptions = {
    publisherFor: () => publish,
    source: 'gateway-local',
    reporting: { notice: (name, { reason }) => state.notices.push(`${name} ${reason}`) },
    onFailure: (message) => state.failures.push(message),
    pollMs: 5,
    retryMsMax: 5,
  };
  return { state, options };
};

const idOf = (number: number): string => `acme/${requestOf(number)}.0`;

test('OPS-20 charges wait in the embedded store while the receiver is down or no gateway runs', async () => {
  const db = await openTestDatabase();
  const ledger = createLedgerStore(db);
  const { state, options } = createReceiver();
  const first = await followQueue(db, options);
  state.isDown = true;
  await ledger.putRecord(chargeOf(1));
  await expect.poll(() => state.notices.length).toBeGreaterThan(1);
  expect(new Set(state.notices)).toEqual(new Set(['usage_events_failed down']));
  await first();
  await ledger.putRecord(chargeOf(2));
  state.isDown = false;
  endings.push(db.close.bind(db), await followQueue(db, options));
  await expect.poll(() => state.ids).toEqual([idOf(1), idOf(2)]);
  expect(state.failures).toEqual([]);
});

test('OPS-20 abandoned hold ids leave the queue without an event', async () => {
  const db = await openTestDatabase();
  const { state, options } = createReceiver();
  endings.push(db.close.bind(db), await followQueue(db, options));
  const ledger = createLedgerStore(db);
  await ledger.putRecord(chargeOf(1, { outcome: 'released', amountPicos: 0n, reason: 'given_up' }));
  await ledger.putRecord(chargeOf(2));
  await expect.poll(() => state.ids).toEqual([idOf(2)]);
  await expect.poll(() => db.sql('SELECT count(*) AS waiting FROM usage_events').get()).toEqual({ waiting: 0n });
});

test('OPS-20 a store that fails is reported once, and the delivery goes on', async () => {
  const db = await openTestDatabase();
  const { state, options } = createReceiver();
  endings.push(db.close.bind(db), await followQueue(db, options));
  db.connection.exec('ALTER TABLE usage_events RENAME TO hidden');
  await expect.poll(() => state.failures.length).toBe(1);
  db.connection.exec('ALTER TABLE hidden RENAME TO usage_events');
  await createLedgerStore(db).putRecord(chargeOf(1));
  await expect.poll(() => state.ids).toEqual([idOf(1)]);
  expect(state.failures).toEqual([expect.stringContaining('usage events cannot be read from the store')]);
});

const streamTest = test.skipIf(!hasDynamodb);
const place = () => ({
  endpoint: dynamodb.endpoint,
  table: localTableNames.accounts,
  positionFile: join(mkdtempSync(join(tmpdir(), 'gateway-usage-')), 'sent.json'),
});

streamTest('OPS-20 the position in a stream is stored after the delivery, and a restart misses nothing', async () => {
  const { state, options } = createReceiver();
  const at = place();
  const ledger = createDynamodbLedger(createDatabases(clients), localTableNames.accounts);
  const first = await followStream(at, options);
  await ledger.putRecord(chargeOf(11));
  await expect.poll(() => state.ids).toEqual([idOf(11)]);
  await expect.poll(() => readFileSync(at.positionFile, 'utf8')).toContain('sequenceNumber');
  const stored = readFileSync(at.positionFile, 'utf8');
  state.isDown = true;
  await ledger.putRecord(chargeOf(12));
  await expect.poll(() => state.notices.length).toBeGreaterThan(1);
  await first();
  expect(readFileSync(at.positionFile, 'utf8')).toBe(stored);
  await ledger.putRecord(chargeOf(13));
  state.isDown = false;
  endings.push(await followStream(at, options));
  await expect.poll(() => state.ids).toEqual([idOf(11), idOf(12), idOf(13)]);
});

streamTest('OPS-20 a damaged position delivers everything that the stream has', async () => {
  const { state, options } = createReceiver();
  const at = place();
  writeFileSync(at.positionFile, 'damaged');
  const ledger = createDynamodbLedger(createDatabases(clients), localTableNames.accounts);
  await ledger.putRecord(chargeOf(21));
  endings.push(await followStream(at, options));
  await expect.poll(() => state.ids).toContain(idOf(21));
});
