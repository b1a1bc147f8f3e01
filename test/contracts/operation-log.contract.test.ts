import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accountIds } from '../../lambdas/core/ledger/ledger-records.ts';
import type { Operation, OperationLog } from '../../lambdas/core/ledger/operation-log.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createOperationLog } from '../../lambdas/stores/dynamodb/operation-log.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { MemoryOperationLog } from '../support/memory/memory-operation-log.ts';

let database: TestDynamodb;
let client: DynamoDBClient;
beforeAll(async () => {
  database = await startTestDynamodb();
  client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
});
afterAll(async () => {
  client.destroy();
  await database.stop();
});

const subjects: readonly (readonly [string, () => OperationLog])[] = [
  ['in memory', () => new MemoryOperationLog()],
  ['on the database', () => createOperationLog(client, localTableNames.accounts)],
];

describe.each(subjects)('the log of operations %s', (_, open) => {
  const operation = (id: string, changes: Partial<Operation> = {}): Operation => ({
    accountId: 'logged',
    id,
    command: 'accounts block',
    reason: 'ünï "quoted" \u{1f600}',
    at: Date.UTC(2026, 10, 1),
    ...changes,
  });

  test('OPS-5 operations are listed by account, the oldest first, as they were added and each once', async () => {
    const log = open();
    const second = operation('02', { ref: 'ticket-7' });
    for (const each of [second, operation('01'), second, operation('03', { accountId: 'logged-2' })]) {
      await log.add(each);
    }
    expect(await log.list('logged')).toEqual([operation('01'), second]);
    expect(await log.list('nobody')).toEqual([]);
  });
});

test('OPS-5 an operation is neither a charge nor a credit nor an account', async () => {
  const records = createLedgerRecords(client, localTableNames.accounts);
  await createOperationLog(client, localTableNames.accounts).add({
    accountId: 'only-logged',
    id: '01',
    command: 'accounts block',
    reason: 'test',
    at: 0,
  });
  expect(await records.listRecords('only-logged', { limit: 10 })).toEqual({ records: [], more: false });
  expect(await records.readCredits('only-logged')).toEqual([]);
  expect(await Array.fromAsync(accountIds(records))).not.toContain('only-logged');
});
