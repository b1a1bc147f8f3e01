import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { toTables, withTables } from './costs/tables.ts';

const { check } = new Command('costs')
  .description('update the tables of docs/operations/costs.md')
  .option('--check', 'change nothing, and exit with 1 if they are outdated')
  .parse()
  .opts<{ check?: true }>();

const path = join(import.meta.dirname, '../docs/operations/costs.md');
const before = readFileSync(path, 'utf8');
const after = withTables(before, toTables());

if (!check) writeFileSync(path, after);
else if (before !== after) {
  process.stderr.write('docs/operations/costs.md is outdated. Run npm run costs.\n');
  process.exitCode = 1;
}
