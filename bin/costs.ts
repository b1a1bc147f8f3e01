import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { toScalingTables, toTables, withTables } from './costs/tables.ts';

const { check } = new Command('costs')
  .description('update the tables of docs/operations/costs.md and scaling.md')
  .option('--check', 'change nothing, and exit with 1 if they are outdated')
  .parse()
  .opts<{ check?: true }>();

const documents = { 'docs/operations/costs.md': toTables(), 'docs/operations/scaling.md': toScalingTables() };

for (const [name, tables] of Object.entries(documents)) {
  const path = join(import.meta.dirname, '..', name);
  const before = readFileSync(path, 'utf8');
  const after = withTables(before, tables, name);
  if (!check) writeFileSync(path, after);
  else if (before !== after) {
    process.stderr.write(`${name} is outdated. Run npm run costs.\n`);
    process.exitCode = 1;
  }
}
