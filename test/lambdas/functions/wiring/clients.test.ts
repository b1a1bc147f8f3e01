import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStoreClock } from '../../../../lambdas/core/store-clock.ts';
import { createClients, createDatabases } from '../../../../lambdas/functions/wiring/clients.ts';
import type { DynamoDB } from '../../../../lambdas/stores/dynamodb/dynamodb.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { startRecordingTable } from '../../../support/recording-table.ts';

let table: Awaited<ReturnType<typeof startRecordingTable>>;
beforeAll(async () => {
  table = await startRecordingTable();
});
afterAll(() => table.stop());

const put = { table: 'accounts', item: { pk: 'a' } };

test.each([
  ['once', 1],
  ['repeating', 2],
] as const)('BILL-13 the client %s sends a call that has no result %i times', async (name, times) => {
  table.setReply({ status: 200, body: '', cut: 'before' });
  const db = createDatabases(createClients({ endpoint: table.endpoint, region: 'us-east-1' }))[name];
  for (const way of [db, db.hot]) {
    await expect(way.put(put)).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
    const attempts = table.takeRequests().map(({ headers }) => headers['amz-sdk-request']);
    expect(attempts).toEqual(
      ['attempt=1; max=1', 'attempt=1; max=2', 'attempt=2; max=2'].slice(times - 1, 2 * times - 1),
    );
  }
});

test.each(['once', 'repeating'] as const)('BILL-13 each reply to the client %s teaches the clock', async (name) => {
  const storeMs = Date.UTC(2026, 10, 1);
  const own = new ManualClock(storeMs + 3_600_000);
  table.setReply({ status: 200, body: '{}', headers: { date: new Date(storeMs).toUTCString() } });
  const calls: readonly ((db: DynamoDB) => Promise<unknown>)[] = [
    (db) => db.put(put),
    (db) => db.hot.put(put),
    (db) => db.get('accounts', { pk: 'a' }),
    (db) => db.transact([{ put }]),
  ];
  for (const call of calls) {
    const clock = createStoreClock({ own, monotonicMs: () => 0 });
    await call(createDatabases(createClients({ endpoint: table.endpoint, region: 'us-east-1' }, clock))[name]);
    expect(Math.abs(clock.now() - storeMs)).toBeLessThanOrEqual(500);
  }
});

test('BILL-13 a cached reply teaches nothing', async () => {
  const own = new ManualClock(Date.UTC(2026, 10, 1));
  const clock = createStoreClock({ own, monotonicMs: () => 0 });
  const { once } = createDatabases(createClients({ endpoint: table.endpoint, region: 'us-east-1' }, clock));
  table.setReply({ status: 200, body: '{}', headers: { date: new Date(0).toUTCString(), age: '1' } });
  await once.put(put);
  expect(clock.skewMs()).toBe(0);
});

test('the clients skip the steps of the SDK that only describe its calls', () => {
  const { once, repeating } = createClients({ endpoint: table.endpoint, region: 'us-east-1' });
  for (const { middlewareStack } of [once, repeating]) {
    const steps = middlewareStack.identify().join();
    expect(steps).toContain('httpSigningMiddleware');
    expect(steps).not.toMatch(/logger|userAgent|recursion/i);
  }
});
