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
}

const memory = async (): Promise<ClaimSubject> => ({
  store: new MemoryClaimStore(),
  cleanedUpAt: async () => undefined,
});

const dynamodb = async (): Promise<ClaimSubject> => {
  const { clients, names } = await openTestTables();
  const table = names.idempotency;
  const db = createDynamoDB(clients.repeating);
  return {
    store: createClaimStore(db, table),
    cleanedUpAt: async (ref) => {
      const item = await db.get(table, claimKey(ref));
      return item && readNumber(item, 'expiresAt');
    },
  };
};

const sqlite = async (): Promise<ClaimSubject> => ({
  store: createSqliteStore(await openTestDatabase()),
  cleanedUpAt: async () => undefined,
});

export const claimSubjects = [
  { name: 'in memory', open: memory },
  { name: 'in SQLite', open: sqlite },
  ...onDatabase({ name: 'on the database', open: dynamodb }),
];
