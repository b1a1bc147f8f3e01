import { type MaintenanceStore, toMaintenanceState } from '../../../lambdas/core/maintenance.ts';
import { type Database, textOf } from './database.ts';

const NAME = 'maintenance';

/** Stores the switch as one fact of the database, which all processes of a data folder share. */
export const createMaintenanceStore = (db: Database): MaintenanceStore => ({
  read: () =>
    db.peek(() => {
      const row = db.sql('SELECT value FROM facts WHERE name = ?').get(NAME);
      return toMaintenanceState(row && textOf(row, 'value'));
    }),
  write: async (state) => {
    await db.writeDurably(() =>
      db
        .sql('INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
        .run(NAME, state),
    );
  },
});
