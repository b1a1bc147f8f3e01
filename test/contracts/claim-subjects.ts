import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { ClaimRef, ClaimStore } from '../../lambdas/core/idempotency/claim-store.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { claimKey } from '../../lambdas/stores/dynamodb/claim-item.ts';
import { createClaimStore } from '../../lambdas/stores/dynamodb/claim-store.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { MemoryClaimStore } from '../support/memory/memory-claim-store.ts';

/** One implementation of the claim store. */
export interface ClaimSubject {
  readonly store: ClaimStore;
  /** Seconds since the epoch at which the table may remove the item; undefined where nothing ever does. */
  cleanedUpAt(ref: ClaimRef): Promise<number | undefined>;
  stop(): Promise<void>;
}

const memory = async (): Promise<ClaimSubject> => ({
  store: new MemoryClaimStore(),
  cleanedUpAt: async () => undefined,
  stop: async () => undefined,
});

const dynamodb = async (): Promise<ClaimSubject> => {
  const database = await startTestDynamodb();
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  const raw = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const table = localTableNames.idempotency;
  return {
    store: createClaimStore(clients.repeating, table),
    cleanedUpAt: async (ref) => {
      const { Item } = await raw.send(new GetItemCommand({ TableName: table, Key: claimKey(ref) }));
      return Number(Item?.expiresAt?.N);
    },
    stop: async () => {
      for (const client of [raw, clients.once, clients.repeating]) client.destroy();
      await database.stop();
    },
  };
};

export const claimSubjects = [
  { name: 'in memory', open: memory },
  { name: 'on the database', open: dynamodb },
] as const;
