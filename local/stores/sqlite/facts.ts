import type { AuditCursor } from '../../../lambdas/core/ledger/audit-run.ts';
import { type MaintenanceStore, toMaintenanceState } from '../../../lambdas/core/maintenance.ts';
import { type Database, textOf } from './database.ts';

const AUDIT_PLACE = 'audit_place';
const MAINTENANCE = 'maintenance';

const readFact = (db: Database, name: string): Promise<string | undefined> =>
  db.peek(() => {
    const row = db.sql('SELECT value FROM facts WHERE name = ?').get(name);
    return row && textOf(row, 'value');
  });

/** Writes within a transaction. Undefined removes the fact. */
export const setFact = (db: Database, name: string, value: string | undefined): void => {
  if (value === undefined) db.sql('DELETE FROM facts WHERE name = ?').run(name);
  else
    db.sql('INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value').run(
      name,
      value,
    );
};

/** If the value is lost, an audit starts again from the first account. */
export const createAuditCursor = (db: Database): AuditCursor => ({
  read: () => readFact(db, AUDIT_PLACE),
  write: (place) => db.write(() => setFact(db, AUDIT_PLACE, place)),
});

/** All processes of a data folder share the switch. */
export const createMaintenanceStore = (db: Database): MaintenanceStore => ({
  read: async () => toMaintenanceState(await readFact(db, MAINTENANCE)),
  write: (state) => db.writeDurably(() => setFact(db, MAINTENANCE, state)),
});
