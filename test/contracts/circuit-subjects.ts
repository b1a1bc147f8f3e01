import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { CircuitStore } from '../../lambdas/core/circuit/circuit-store.ts';
import { createCircuitStore } from '../../lambdas/stores/dynamodb/circuit-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { createCircuitStore as createSqliteStore } from '../../local/stores/sqlite/circuit-store.ts';
import { numberOf } from '../../local/stores/sqlite/database.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryCircuitStore } from '../support/memory/memory-circuit-store.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the circuit store, with calls that bypass it. */
export interface CircuitSubject {
  readonly store: CircuitStore;
  /** Lifts a quarantine as an operator does. */
  liftQuarantine(modelId: string): Promise<void>;
  /** In seconds; undefined if the engine has no time to live. */
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
    store: createCircuitStore(createDynamoDB(clients.once, Date.now), names.counters),
    liftQuarantine: async (modelId) => {
      await clients.once.send(new DeleteItemCommand(at(`quarantine#${modelId}`)));
    },
    expiryOf: async (id) => {
      const { Item } = await clients.once.send(new GetItemCommand({ ...at(id), ConsistentRead: true }));
      return Number(Item?.expiresAt?.N);
    },
  };
};

/** Queries for the expiry of a row. The key is the kind of a DynamoDB id and the number of its other parts. */
const expiries: Readonly<Record<string, string>> = {
  'circuit 2': 'SELECT expires_at AS at FROM circuits WHERE provider_id = ? AND model_id = ?',
  'circuit 3': 'SELECT expires_at AS at FROM circuit_counts WHERE provider_id = ? AND model_id = ? AND start = ?',
  'quarantine 1': 'SELECT shut_until AS at FROM quarantines WHERE model_id = ?',
  'quarantine 2': 'SELECT expires_at AS at FROM missing_usage_counts WHERE model_id = ? AND start = ?',
};

const sqlite = async (): Promise<CircuitSubject> => {
  const db = await openTestDatabase();
  return {
    store: createSqliteStore(db),
    liftQuarantine: async (modelId) => {
      await db.write(() => db.sql('DELETE FROM quarantines WHERE model_id = ?').run(modelId));
    },
    expiryOf: (id) => {
      const [kind, ...parts] = id.split('#');
      return db.peek(() => {
        const row = db.sql(expiries[`${kind} ${parts.length}`] ?? '').get(...parts);
        return row ? numberOf(row, 'at') / 1_000 : Number.NaN;
      });
    },
  };
};

export const circuitSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];
