import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type DatabaseOptions } from '../../local/stores/sqlite/database.ts';

/** Not every test closes its database. A file that the garbage collector closes is a warning of Node. */
const opened: Database[] = [];

/** Path of a database that does not exist, in a new folder in the temporary folder of the run. */
export const newDatabasePath = (): string => join(mkdtempSync(join(tmpdir(), 'sqlite-')), 'gateway.db');

/** An empty database in a new folder, unless `options` has a path. */
export const openTestDatabase = async (options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const db = await Database.open({ path: newDatabasePath(), ...options });
  opened.push(db);
  return db;
};
