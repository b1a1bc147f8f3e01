import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type DatabaseOptions } from '../../local/stores/sqlite/database.ts';

/** Databases that a test may leave open. Node warns when the garbage collector closes a file. */
const opened: Database[] = [];

/** Returns the path of a database that does not exist yet, in a new temporary folder of the run. */
export const newDatabasePath = (): string => join(mkdtempSync(join(tmpdir(), 'sqlite-')), 'gateway.db');

/** Opens an empty database in a new folder, unless `options` has a path. */
export const openTestDatabase = async (options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const db = await Database.open({ path: newDatabasePath(), ...options });
  opened.push(db);
  return db;
};
