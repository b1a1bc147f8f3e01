import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createWebhookSecretStore } from '../../../../local/stores/sqlite/webhook-secret-store.ts';
import { newDatabasePath, openTestDatabase } from '../../../support/sqlite.ts';

test('OPS-11, HOOK-2 a database of an earlier release gets the table of webhook secrets', async () => {
  const path = newDatabasePath();
  await (await openTestDatabase({ path })).close();
  const old = new DatabaseSync(path);
  old.exec('DROP TABLE webhook_secrets');
  old.close();
  const store = createWebhookSecretStore(await openTestDatabase({ path }));
  const secret = { version: 1, secret: 'whsec_1', createdAtMs: 1_000 };
  expect(await store.read('one')).toBeUndefined();
  expect(await store.put('one', secret)).toBe(true);
  expect(await store.read('one')).toEqual(secret);
});
