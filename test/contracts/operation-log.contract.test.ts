import { beforeAll, describe, expect, test } from 'vitest';
import type { AuditCursor } from '../../lambdas/core/ledger/audit-run.ts';
import type { Operation, OperationLog } from '../../lambdas/core/ledger/records.ts';
import { accountIds, type LedgerRecords } from '../../lambdas/core/ledger/records.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import {
  createAuditCursor,
  createLedgerRecords,
  createOperationLog,
} from '../../lambdas/stores/dynamodb/ledger-records.ts';
import * as facts from '../../local/stores/sqlite/facts.ts';
import * as sqlite from '../../local/stores/sqlite/ledger-records.ts';
import { createTestClients, hasDynamodb, onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryOperationLog } from '../support/memory/memory-operation-log.ts';
import { openTestDatabase } from '../support/sqlite.ts';

interface Subject {
  readonly log: OperationLog;
  readonly records: LedgerRecords;
  readonly cursor: AuditCursor;
}

const onTables = async (): Promise<Subject> => {
  const { clients, names } = await openTestTables();
  return {
    log: createOperationLog(createDynamoDB(clients.repeating, Date.now), names.accounts),
    records: createLedgerRecords(createDynamoDB(clients.repeating, Date.now), names.accounts),
    cursor: createAuditCursor(createDynamoDB(clients.repeating, Date.now), names.counters),
  };
};

const inSqlite = async (): Promise<Subject> => {
  const db = await openTestDatabase();
  return {
    log: sqlite.createOperationLog(db),
    records: sqlite.createLedgerRecords(db),
    cursor: facts.createAuditCursor(db),
  };
};

const engines = [{ name: 'in SQLite', open: inSqlite }, ...onDatabase({ name: 'on the database', open: onTables })];
const subjects: readonly { readonly name: string; readonly open: () => Promise<Pick<Subject, 'log'>> }[] = [
  { name: 'in memory', open: async () => ({ log: new MemoryOperationLog() }) },
  ...engines,
];

const operation = (id: string, changes: Partial<Operation> = {}): Operation => ({
  accountId: 'logged',
  id,
  command: 'accounts block',
  reason: 'ünï "quoted" \u{1f600}',
  at: Date.UTC(2026, 10, 1),
  ...changes,
});

test.each(subjects)('OPS-5 operations $name are listed by account, the oldest first, once each', async ({ open }) => {
  const { log } = await open();
  const second = operation('02', { ref: 'ticket-7' });
  for (const each of [second, operation('01'), second, operation('03', { accountId: 'logged-2' })]) {
    await log.add(each);
  }
  expect(await log.list('logged')).toEqual([operation('01'), second]);
  expect(await log.list('unknown')).toEqual([]);
});

describe.each(engines)('the operation log and the audit cursor $name', ({ open }) => {
  let subject: Subject;
  beforeAll(async () => {
    subject = await open();
  });

  test('OPS-5 an operation is neither a charge nor a credit nor an account', async () => {
    const { log, records } = subject;
    await log.add(operation('01', { accountId: 'only-logged' }));
    expect(await records.listRecords('only-logged', { limit: 10 })).toEqual({ records: [], more: false });
    expect(await records.readCredits('only-logged')).toEqual([]);
    expect(await Array.fromAsync(accountIds(records))).not.toContain('only-logged');
  });

  test('OPS-3 the audit continues from its last account and restarts after undefined was written', async () => {
    const { cursor } = subject;
    expect(await cursor.read()).toBeUndefined();
    await cursor.write('account-1');
    await cursor.write('account-2');
    expect(await cursor.read()).toBe('account-2');
    await cursor.write(undefined);
    expect(await cursor.read()).toBeUndefined();
  });
});

test.skipIf(!hasDynamodb)('OPS-3 an unreachable store is a StoreError', async () => {
  const nowhere = createAuditCursor(createDynamoDB(createTestClients('http://127.0.0.1:9').once, Date.now), 'counters');
  for (const call of [nowhere.read(), nowhere.write('account-1')])
    await expect(call).rejects.toMatchObject({ name: 'StoreError', kind: 'unavailable' });
});
