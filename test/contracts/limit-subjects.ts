import { ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import type { AddressCounters } from '../../lambdas/core/limits/rate-limit.ts';
import { createDatabases } from '../../lambdas/functions/wiring/clients.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { createAddressCounters } from '../../lambdas/stores/dynamodb/rate-bucket.ts';
import { numberOf } from '../../local/stores/sqlite/database.ts';
import { putKey as putSqliteKey } from '../../local/stores/sqlite/key-rows.ts';
import {
  createAddressCounters as createSqliteCounters,
  createKeyStore as createSqliteKeys,
} from '../../local/stores/sqlite/key-store.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryAddressCounters } from '../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../support/memory/memory-key-store.ts';
import { MemoryLedgerStore } from '../support/memory/memory-ledger-store.ts';
import { putKey } from '../support/put-key.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the two rate limit stores, with calls that bypass them. */
export interface LimitSubject {
  readonly keys: KeyStore;
  readonly counters: AddressCounters;
  put(hash: string, accountId: string): Promise<void>;
  revoke(hash: string): Promise<void>;
  block(hash: string): Promise<void>;
  countKeys(): Promise<number>;
}

const memory = async (): Promise<LimitSubject> => {
  const keys = new MemoryKeyStore(new MemoryLedgerStore());
  return {
    keys,
    counters: new MemoryAddressCounters(),
    put: async (hash, accountId) => void (await keys.put(hash, accountId)),
    revoke: (hash) => keys.revoke(hash),
    block: (hash) => keys.setBlocked(hash, true),
    countKeys: async () => keys.size,
  };
};

const label = { prefix: 'sk-service-abcd', lastFour: 'wxyz' };

const sqlite = async (): Promise<LimitSubject> => {
  const db = await openTestDatabase();
  const run = async (sql: string, hash: string): Promise<void> => void (await db.write(() => db.sql(sql).run(hash)));
  return {
    keys: createSqliteKeys(db),
    counters: createSqliteCounters(db),
    put: (hash, accountId) =>
      db.write(() => putSqliteKey(db, accountId, { hash, label, pepperId: '1', isShown: true }, 0)),
    revoke: (hash) => run("UPDATE keys SET status = 'revoked' WHERE hash = ?", hash),
    block: (hash) => run('UPDATE keys SET blocked = 1 WHERE hash = ?', hash),
    countKeys: () => db.peek(() => numberOf(db.sql('SELECT count(*) AS count FROM keys').get() ?? {}, 'count')),
  };
};

const dynamodb = async (): Promise<LimitSubject> => {
  const { clients, names } = await openTestTables();
  const table = names.keys;
  const set = async (hash: string, name: string, value: { S: string } | { BOOL: boolean }) => {
    await clients.once.send(
      new UpdateItemCommand({
        TableName: table,
        Key: { pk: { S: hash } },
        UpdateExpression: 'SET #name = :value',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeNames: { '#name': name },
        ExpressionAttributeValues: { ':value': value },
      }),
    );
  };
  return {
    keys: createKeyStore(createDatabases(clients), names),
    counters: createAddressCounters(createDynamoDB(clients.once, Date.now), names.counters),
    put: (hash, accountId) =>
      putKey(clients.repeating, table, {
        hash,
        accountId,
        label,
        pepperId: '1',
      }),
    revoke: (hash) => set(hash, 'status', { S: 'revoked' }),
    block: (hash) => set(hash, 'blocked', { BOOL: true }),
    countKeys: async () =>
      (await clients.once.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Count ?? 0,
  };
};

export const limitSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];

/** Returns the number of concurrent requests that pass. */
export const countPassed = async (times: number, take: () => Promise<boolean>): Promise<number> =>
  (await Promise.all(Array.from({ length: times }, take))).filter((passed) => passed).length;
