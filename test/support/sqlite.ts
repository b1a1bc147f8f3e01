import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, type DatabaseOptions } from '../../local/stores/sqlite/database.ts';

/** An empty database of its own, in the temporary folder of the run. The caller closes it. */
export const openTestDatabase = (options: Partial<DatabaseOptions> = {}): Promise<Database> =>
  Database.open({ path: join(mkdtempSync(join(tmpdir(), 'sqlite-')), 'gateway.db'), ...options });
