import { expect, test } from 'vitest';
import { type MaintenanceStore, maintenanceStates } from '../../lambdas/core/maintenance.ts';
import { createDynamoDB } from '../../lambdas/stores/dynamodb/dynamodb.ts';
import * as dynamodb from '../../lambdas/stores/dynamodb/maintenance-store.ts';
import * as sqlite from '../../local/stores/sqlite/facts.ts';
import { onDatabase, openTestTables } from '../support/dynamodb.ts';
import { MemoryMaintenanceStore } from '../support/memory/memory-maintenance-store.ts';
import { openTestDatabase } from '../support/sqlite.ts';

const onTables = async (): Promise<MaintenanceStore> => {
  const { clients, names } = await openTestTables();
  return dynamodb.createMaintenanceStore(createDynamoDB(clients.repeating, Date.now), names.counters);
};

const subjects: readonly { readonly name: string; readonly open: () => Promise<MaintenanceStore> }[] = [
  { name: 'in memory', open: async () => new MemoryMaintenanceStore() },
  { name: 'in SQLite', open: async () => sqlite.createMaintenanceStore(await openTestDatabase()) },
  ...onDatabase({ name: 'on the database', open: onTables }),
];

test.each(subjects)('OPS-15 the switch $name is off at first, and then as last written', async ({ open }) => {
  const store = await open();
  expect(await store.read()).toBe('off');
  for (const state of maintenanceStates.toReversed()) {
    await store.write(state);
    expect(await store.read()).toBe(state);
  }
});
