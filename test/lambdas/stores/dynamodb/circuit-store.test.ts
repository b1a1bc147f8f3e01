import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { afterEach, expect, test } from 'vitest';
import { createCircuitStore } from '../../../../lambdas/stores/dynamodb/circuit-store.ts';
import { createDynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { createScriptedClient } from './scripted-client.ts';

const NOW = Date.UTC(2026, 10, 1);
const key = { providerId: 'vendor', modelId: 'model' };
const dynamodb = createScriptedClient();
afterEach(() => dynamodb.reset());
const store = createCircuitStore(createDynamoDB(dynamodb.client, Date.now), 'counters');

test('FALL-1 an item that the store skipped is unknown, not missing', async () => {
  const unread = ['circuit#vendor#model', 'quarantine#model', `circuit#vendor#model#${NOW - 15_000}`];
  dynamodb.answer = async () => ({
    Responses: { counters: [{ pk: `circuit#vendor#model#${NOW}`, failedCalls: 2n, goodCalls: 1n }] },
    UnprocessedKeys: { counters: { Keys: unread.map((pk) => ({ pk })) } },
  });
  expect(await store.read(key, [NOW, NOW - 15_000], NOW)).toEqual({
    state: { known: false },
    buckets: [{ startMs: NOW, failures: 2, successes: 1, accounts: [] }],
    quarantinedUntilMs: { known: false },
  });
  expect(dynamodb.bodies).toHaveLength(1);
});

test('FALL-1 a read that is rejected completely is a StoreError', async () => {
  dynamodb.rejectWith(new ThrottlingException({ message: 'slow down', $metadata: {} }));
  await expect(store.read(key, [NOW], NOW)).rejects.toMatchObject({ name: 'StoreError', kind: 'throttled' });
});
