import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withTables } from './costs/document.ts';
import { toTables } from './costs/tables.ts';

/** `npm run costs` writes the tables of docs/costs.md anew. `--check` changes nothing and exits with 1 when they are stale. */
const path = join(import.meta.dirname, '../docs/costs.md');
const before = readFileSync(path, 'utf8');
const after = withTables(before, toTables());

const { values } = parseArgs({ options: { check: { type: 'boolean' } } });
if (!values.check) writeFileSync(path, after);
else if (before !== after) {
  process.stderr.write('docs/costs.md is stale: run npm run costs\n');
  process.exitCode = 1;
}
