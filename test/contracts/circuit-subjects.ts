import { DeleteItemCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { CircuitStore } from '../../lambdas/core/circuit/circuit-store.ts';
import { createClients } from '../../lambdas/functions/wiring/dynamodb-clients.ts';
import { createCircuitStore } from '../../lambdas/stores/dynamodb/circuit-store.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { startTestDynamodb } from '../support/dynamodb.ts';
import { MemoryCircuitStore } from '../support/memory/memory-circuit-store.ts';

/** One implementation of the circuits' store, and what a test has to do past it. */
export interface CircuitSubject {
  readonly store: CircuitStore;
  /** What an operator does to lift a quarantine. */
  liftQuarantine(modelId: string): Promise<void>;
  /** Seconds; undefined where nothing has a time to live. */
  expiryOf(id: string): Promise<number | undefined>;
  stop(): Promise<void>;
}

const memory = async (): Promise<CircuitSubject> => {
  const store = new MemoryCircuitStore();
  return {
    store,
    liftQuarantine: async (modelId) => store.liftQuarantine(modelId),
    expiryOf: async () => undefined,
    stop: async () => undefined,
  };
};

const dynamodb = async (): Promise<CircuitSubject> => {
  const database = await startTestDynamodb();
  const clients = createClients({ endpoint: database.endpoint, region: 'us-east-1' });
  const raw = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const at = (id: string) => ({ TableName: localTableNames.counters, Key: { pk: { S: id } } });
  return {
    store: createCircuitStore(clients.once, localTableNames.counters),
    liftQuarantine: async (modelId) => {
      await raw.send(new DeleteItemCommand(at(`quarantine#${modelId}`)));
    },
    expiryOf: async (id) => {
      const { Item } = await raw.send(new GetItemCommand({ ...at(id), ConsistentRead: true }));
      return Number(Item?.expiresAt?.N);
    },
    stop: async () => {
      for (const client of [raw, clients.once, clients.repeating]) client.destroy();
      await database.stop();
    },
  };
};

export const circuitSubjects = [
  { name: 'in memory', open: memory },
  { name: 'on the database', open: dynamodb },
] as const;
