import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createClients, createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localTableNames } from '../../local/create-tables.ts';
import { followStream } from '../../local/usage-stream.ts';
import { chargeOf } from '../lambdas/functions/wiring/usage-events-records.ts';
import { hasDynamodb, startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { createReceiver, idOf } from './usage-deliveries.ts';

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

const streamTest = test.skipIf(!hasDynamodb);
const place = () => ({
  endpoint: dynamodb.endpoint,
  table: localTableNames.accounts,
  positionFile: join(mkdtempSync(join(tmpdir(), 'gateway-usage-')), 'sent.json'),
});

streamTest('OPS-20 the position in a stream is stored after the delivery, and a restart misses nothing', async () => {
  const { state, options } = createReceiver();
  const at = place();
  const ledger = createLedgerStore(createDatabases(clients), localTableNames.accounts);
  const first = await followStream(at, options);
  await ledger.putRecord(chargeOf(11));
  await expect.poll(() => state.ids).toEqual([idOf(11)]);
  await expect.poll(() => readFileSync(at.positionFile, 'utf8')).toContain('sequenceNumber');
  const stored = readFileSync(at.positionFile, 'utf8');
  const calls = state.calls;
  state.isDown = true;
  await ledger.putRecord(chargeOf(12));
  await expect.poll(() => state.calls).toBeGreaterThan(calls + 1);
  expect(state.notices).toEqual(['usage_events_failed billing.example.com down']);
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
  const ledger = createLedgerStore(createDatabases(clients), localTableNames.accounts);
  await ledger.putRecord(chargeOf(21));
  endings.push(await followStream(at, options));
  await expect.poll(() => state.ids).toContain(idOf(21));
});
