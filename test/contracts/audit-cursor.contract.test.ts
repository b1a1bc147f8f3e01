import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AuditCursor } from '../../lambdas/core/ledger/audit-run.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { createAuditCursor } from '../../lambdas/stores/dynamodb/audit-cursor.ts';
import { localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';

let cursor: AuditCursor;
let stop = async (): Promise<void> => undefined;

beforeAll(async () => {
  const database = await startTestDynamodb();
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  cursor = createAuditCursor(clients.repeating, localTableNames.counters);
  stop = async () => {
    for (const client of [clients.once, clients.repeating]) client.destroy();
    await database.stop();
  };
});
afterAll(() => stop());

test('OPS-3 the audit goes on where it has left off, and begins anew once it was told to', async () => {
  expect(await cursor.read()).toBeUndefined();
  await cursor.write('account-1');
  await cursor.write('account-2');
  expect(await cursor.read()).toBe('account-2');
  await cursor.write(undefined);
  expect(await cursor.read()).toBeUndefined();
});

test('OPS-3 a store that does not answer is a StoreError', async () => {
  const nowhere = createClients({ endpoint: 'http://127.0.0.1:9', region: 'us-east-1' });
  const lost = createAuditCursor(nowhere.once, localTableNames.counters);
  await expect(lost.read()).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
  await expect(lost.write('account-1')).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});
