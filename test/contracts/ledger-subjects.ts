import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { type Account, balanceOf, heldOf } from '../../lambdas/core/ledger/account.ts';
import type { LedgerRecords } from '../../lambdas/core/ledger/ledger-records.ts';
import type { LedgerStore } from '../../lambdas/core/ledger/ledger-store.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { accountKey } from '../../lambdas/stores/dynamodb/account-item.ts';
import { createLedgerRecords } from '../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';

/** One implementation of the ledger store, and what a test has to see or do past it. */
export interface LedgerSubject {
  readonly store: LedgerStore;
  readonly records: LedgerRecords;
  block(accountId: string): Promise<void>;
  /** The account's place on the sweep list, undefined when it is not on it. */
  sweepAtOf(accountId: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

const memory = async (): Promise<LedgerSubject> => {
  const store = new MemoryLedgerStore();
  return {
    store,
    records: store,
    block: async (accountId) => store.setStatus(accountId, 'blocked'),
    sweepAtOf: async (accountId) => store.sweepAtOf(accountId),
    stop: async () => undefined,
  };
};

const dynamodb = async (): Promise<LedgerSubject> => {
  const database = await startTestDynamodb();
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  const raw = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const at = (accountId: string) => ({ TableName: localTableNames.accounts, Key: accountKey(accountId) });
  return {
    store: createLedgerStore(clients, localTableNames.accounts),
    records: createLedgerRecords(clients.repeating, localTableNames.accounts),
    block: async (accountId) => {
      await raw.send(
        new UpdateItemCommand({
          ...at(accountId),
          UpdateExpression: 'SET #status = :blocked',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':blocked': { S: 'blocked' } },
        }),
      );
    },
    sweepAtOf: async (accountId) => {
      const { Item } = await raw.send(new GetItemCommand({ ...at(accountId), ConsistentRead: true }));
      return Item?.sweepAt?.N === undefined ? undefined : Number(Item.sweepAt.N);
    },
    stop: async () => {
      for (const client of [raw, clients.once, clients.repeating]) client.destroy();
      await database.stop();
    },
  };
};

export const ledgerSubjects = [
  { name: 'in memory', open: memory },
  { name: 'on the database', open: dynamodb },
] as const;

export const expectBalanced = (account: Account): void => {
  expect(account.availablePicos + heldOf(account), 'available + held').toBe(balanceOf(account));
};

/** The same store; after every write the account is read back, has to balance, and has to have counted it. */
export const watched = (store: LedgerStore): LedgerStore => {
  const around = async <T>(accountId: string, call: () => Promise<T>, wrote: (reply: T) => boolean): Promise<T> => {
    const before = await store.readAccount(accountId);
    const reply = await call();
    const after = await store.readAccount(accountId);
    if (!before || !after) return reply;
    expectBalanced(after);
    expect(after.version - before.version, 'writes counted by version').toBe(wrote(reply) ? 1 : 0);
    if (!wrote(reply)) expect(after).toEqual(before);
    return reply;
  };
  return {
    createAccount: (accountId) => store.createAccount(accountId),
    readAccount: (accountId) => store.readAccount(accountId),
    readRecord: (accountId, holdId) => store.readRecord(accountId, holdId),
    due: (nowMs) => store.due(nowMs),
    reschedule: (accountId, atMs) => store.reschedule(accountId, atMs),
    hold: (request) =>
      around(
        request.accountId,
        () => store.hold(request),
        (reply) => reply.kind === 'held',
      ),
    putRecord: (record) =>
      around(
        record.accountId,
        () => store.putRecord(record),
        () => false,
      ),
    apply: (record, amountPicos) =>
      around(
        record.accountId,
        () => store.apply(record, amountPicos),
        (reply) => reply !== undefined,
      ),
    credit: (request) =>
      around(
        request.accountId,
        () => store.credit(request),
        (reply) => reply.kind === 'credited',
      ),
  };
};
