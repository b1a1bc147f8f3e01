import { BatchGetItemCommand, DynamoDBClient, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, expect, test } from 'vitest';
import { createCircuitStore } from '../../../../lambdas/stores/dynamodb/circuit-store.ts';
import { createDynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';

const NOW = Date.UTC(2026, 10, 1);
const key = { providerId: 'vendor', modelId: 'model' };
const client = new DynamoDBClient({ region: 'us-east-1' });
const dynamodb = mockClient(client);
afterEach(() => dynamodb.reset());
const store = createCircuitStore(createDynamoDB(client), 'counters');

test('FALL-1 an item that the store has left out is told as unknown, not as missing', async () => {
  const unread = ['circuit#vendor#model', 'quarantine#model', `circuit#vendor#model#${NOW - 15_000}`];
  dynamodb.on(BatchGetItemCommand).resolves({
    Responses: {
      counters: [{ pk: { S: `circuit#vendor#model#${NOW}` }, failedCalls: { N: '2' }, goodCalls: { N: '1' } }],
    },
    UnprocessedKeys: { counters: { Keys: unread.map((pk) => ({ pk: { S: pk } })) } },
  });
  expect(await store.read(key, [NOW, NOW - 15_000], NOW)).toEqual({
    state: { known: false },
    buckets: [{ startMs: NOW, failures: 2, successes: 1, accounts: [] }],
    quarantinedUntilMs: { known: false },
  });
  expect(dynamodb.commandCalls(BatchGetItemCommand)).toHaveLength(1);
});

test('FALL-1 a reading that is refused altogether is an error of the store', async () => {
  dynamodb.on(BatchGetItemCommand).rejects(new ThrottlingException({ message: 'slow down', $metadata: {} }));
  await expect(store.read(key, [NOW], NOW)).rejects.toMatchObject({ name: 'StoreError', kind: 'throttled' });
});
