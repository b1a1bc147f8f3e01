import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { CircuitStore } from '../../lambdas/core/circuit/circuit-store.ts';
import { createCircuitStore } from '../../lambdas/stores/dynamodb/circuit-store.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryCircuitStore } from '../support/memory/memory-circuit-store.ts';

/** One implementation of the circuits' store, and what a test has to do past it. */
export interface CircuitSubject {
  readonly store: CircuitStore;
  /** What an operator does to lift a quarantine. */
  liftQuarantine(modelId: string): Promise<void>;
  /** Seconds; undefined where nothing has a time to live. */
  expiryOf(id: string): Promise<number | undefined>;
}

const memory = async (): Promise<CircuitSubject> => {
  const store = new MemoryCircuitStore();
  return {
    store,
    liftQuarantine: async (modelId) => store.liftQuarantine(modelId),
    expiryOf: async () => undefined,
  };
};

const dynamodb = async (): Promise<CircuitSubject> => {
  const { clients, names } = await openTestTables();
  const at = (id: string) => ({ TableName: names.counters, Key: { pk: { S: id } } });
  return {
    store: createCircuitStore(clients.once, names.counters),
    liftQuarantine: async (modelId) => {
      await clients.once.send(new DeleteItemCommand(at(`quarantine#${modelId}`)));
    },
    expiryOf: async (id) => {
      const { Item } = await clients.once.send(new GetItemCommand({ ...at(id), ConsistentRead: true }));
      return Number(Item?.expiresAt?.N);
    },
  };
};

export const circuitSubjects = [
  { name: 'in memory', open: memory },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];
