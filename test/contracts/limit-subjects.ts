import { DynamoDBClient, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { KeyStore } from '../../lambdas/core/accounts/key-store.ts';
import type { AddressCounters } from '../../lambdas/core/limits/address-limit.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { createAddressCounters } from '../../lambdas/stores/dynamodb/address-counters.ts';
import { createKeyStore } from '../../lambdas/stores/dynamodb/key-store.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { MemoryAddressCounters } from '../support/memory/memory-address-counters.ts';
import { MemoryKeyStore } from '../support/memory/memory-key-store.ts';
import { putKey } from '../support/put-key.ts';

/** One implementation of the two stores that limit, and what a test has to do past them. */
export interface LimitSubject {
  readonly keys: KeyStore;
  readonly counters: AddressCounters;
  put(hash: string, accountId: string): Promise<void>;
  revoke(hash: string): Promise<void>;
  block(hash: string): Promise<void>;
  countKeys(): Promise<number>;
  stop(): Promise<void>;
}

const memory = async (): Promise<LimitSubject> => {
  const keys = new MemoryKeyStore();
  return {
    keys,
    counters: new MemoryAddressCounters(),
    put: async (hash, accountId) => void (await keys.put(hash, accountId)),
    revoke: (hash) => keys.revoke(hash),
    block: (hash) => keys.setBlocked(hash, true),
    countKeys: async () => keys.size,
    stop: async () => undefined,
  };
};

const dynamodb = async (): Promise<LimitSubject> => {
  const database = await startTestDynamodb();
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  const raw = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const table = localTableNames.keys;
  const set = async (hash: string, name: string, value: { S: string } | { BOOL: boolean }) => {
    await raw.send(
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
    keys: createKeyStore(clients.repeating, table),
    counters: createAddressCounters(clients.once, localTableNames.counters),
    put: (hash, accountId) =>
      putKey(clients.repeating, table, {
        hash,
        accountId,
        label: { prefix: 'sk-service-abcd', lastFour: 'wxyz' },
        pepperId: '1',
      }),
    revoke: (hash) => set(hash, 'status', { S: 'revoked' }),
    block: (hash) => set(hash, 'blocked', { BOOL: true }),
    countKeys: async () => (await raw.send(new ScanCommand({ TableName: table, ConsistentRead: true }))).Count ?? 0,
    stop: async () => {
      for (const client of [raw, clients.once, clients.repeating]) client.destroy();
      await database.stop();
    },
  };
};

export const limitSubjects = [
  { name: 'in memory', open: memory },
  { name: 'on the database', open: dynamodb },
] as const;

const AT_A_TIME = 100;

/**
 * How many of so many requests are let through. They come in waves: a thousand at once on a busy machine would meet the
 * client's own timeout, and a call without a reply proves nothing. The instant they tell is the same for all.
 */
export const countPassed = async (times: number, take: () => Promise<boolean>): Promise<number> => {
  let passed = 0;
  for (let begun = 0; begun < times; begun += AT_A_TIME) {
    const wave = Array.from({ length: Math.min(AT_A_TIME, times - begun) }, take);
    passed += (await Promise.all(wave)).filter((allowed) => allowed).length;
  }
  return passed;
};
