import { beforeAll, describe, expect, test } from 'vitest';
import type { WebhookSecret, WebhookSecretStore } from '../../lambdas/core/accounts/webhook-secret.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createWebhookSecretStore } from '../../lambdas/stores/dynamodb/webhook-secret-store.ts';
import { createWebhookSecretStore as createSqliteStore } from '../../local/stores/sqlite/webhook-secret-store.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryWebhookSecrets } from '../support/memory/memory-webhook-secrets.ts';
import { openTestDatabase } from '../support/sqlite.ts';

interface Subject {
  readonly name: string;
  readonly open: () => Promise<WebhookSecretStore>;
}

const subjects: readonly Subject[] = [
  { name: 'in memory', open: async () => new MemoryWebhookSecrets() },
  { name: 'in SQLite', open: async () => createSqliteStore(await openTestDatabase()) },
  ...onDatabase({
    name: 'on the database',
    open: async () => {
      const { clients, names } = await openTestTables();
      return createWebhookSecretStore(createDynamoDB(clients.repeating, Date.now), names.accounts);
    },
  }),
];

const first: WebhookSecret = { version: 1, secret: 'whsec_one', createdAtMs: 1_000 };
const second: WebhookSecret = {
  version: 2,
  secret: 'whsec_two',
  createdAtMs: 2_000,
  previous: { secret: 'whsec_one', untilMs: 3_000 },
};

describe.each(subjects)('the store of webhook secrets $name', ({ open }) => {
  let store: WebhookSecretStore;
  beforeAll(async () => {
    store = await open();
  });

  test('HOOK-2 the first secret of an account is written once', async () => {
    expect(await store.read('a')).toBeUndefined();
    expect(await store.put('a', second)).toBe(false);
    expect(await store.put('a', first)).toBe(true);
    expect(await store.put('a', { ...first, secret: 'whsec_other' })).toBe(false);
    expect([await store.read('a'), await store.read('b')]).toEqual([first, undefined]);
  });

  test('HOOK-2 a secret replaces only that of the version before', async () => {
    await store.put('c', first);
    expect(await store.put('c', { ...second, version: 3 })).toBe(false);
    expect(await store.put('c', second)).toBe(true);
    expect(await store.put('c', { ...second, secret: 'whsec_other' })).toBe(false);
    expect(await store.read('c')).toEqual(second);
  });

  test('HOOK-2 of several secrets of one version that are written at the same time, one is stored', async () => {
    const others = ['x', 'y', 'z'].map((secret) => ({ ...first, secret }));
    const written = await Promise.all(others.map((one) => store.put('d', one)));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await store.read('d')).toEqual(others[written.indexOf(true)]);
  });
});
