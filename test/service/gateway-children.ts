import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../../local/process-identity.ts';

/** Returns the databases that run on a data folder, from the process list of the system. */
export function databasesOf(folder: string): readonly number[] {
  const file = join(folder, 'dynamodb/data.db');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => commandLine(pid).includes(file));
}
