import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClients, createDatabases } from '../../../../lambdas/functions/wiring/clients.ts';
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

test('the clients skip the steps of the SDK that only describe its calls', () => {
  const { once, repeating } = createClients({ endpoint: table.endpoint, region: 'us-east-1' });
  for (const { middlewareStack } of [once, repeating]) {
    const steps = middlewareStack.identify().join();
    expect(steps).toContain('httpSigningMiddleware');
    expect(steps).not.toMatch(/logger|userAgent|recursion/i);
  }
});
