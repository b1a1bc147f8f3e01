import type { ClaimRef, ClaimStore } from '../../lambdas/core/idempotency/claim-store.ts';
import { claimKey, createClaimStore } from '../../lambdas/stores/dynamodb/claim-store.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import { readNumber } from '../../lambdas/stores/dynamodb/item.ts';
import { createClaimStore as createSqliteStore } from '../../local/stores/sqlite/claim-store.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryClaimStore } from '../support/memory/memory-claim-store.ts';
import { openTestDatabase } from '../support/sqlite.ts';

/** Implementation of the claim store. */
export interface ClaimSubject {
  readonly store: ClaimStore;
  /** Unix seconds at which the table may remove the item; undefined if the engine never does. */
  cleanedUpAt(ref: ClaimRef): Promise<number | undefined>;
  /** Stores a state of a newer release. Undefined if the engine has no stored form. */
  readonly setState?: (ref: ClaimRef, state: string) => Promise<unknown>;
}

const memory = async (): Promise<ClaimSubject> => ({
  store: new MemoryClaimStore(),
  cleanedUpAt: async () => undefined,
});

const dynamodb = async (): Promise<ClaimSubject> => {
  const { clients, names } = await openTestTables();
  const table = names.idempotency;
  const db = createDynamoDB(clients.repeating, Date.now);
  return {
    store: createClaimStore(db, table),
    cleanedUpAt: async (ref) => {
      const item = await db.get(table, claimKey(ref));
      return item && readNumber(item, 'expiresAt');
    },
    setState: (ref, state) =>
      db.update({
        table,
        key: claimKey(ref),
        update: 'SET #state = :state',
        condition: 'attribute_exists(pk)',
        names: { '#state': 'state' },
        values: { ':state': state },
      }),
  };
};

const sqlite = async (): Promise<ClaimSubject> => {
  const db = await openTestDatabase();
  return {
    store: createSqliteStore(db),
    cleanedUpAt: async () => undefined,
    // Only the schema of a newer release allows other states.
    setState: async ({ keyHash }, state) => {
      await db.write(() => db.sql('PRAGMA ignore_check_constraints = ON').run());
      await db.write(() => db.sql('UPDATE claims SET state = ? WHERE key_hash = ?').run(state, keyHash));
      await db.write(() => db.sql('PRAGMA ignore_check_constraints = OFF').run());
    },
  };
};

export const claimSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];
