import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReference, toText } from '../reference/document.ts';

/** `--check` changes nothing, and exits with 1 if the file differs from its sources. */
const path = join(import.meta.dirname, '../web/api-reference/openapi.json');
const text = toText(createReference());

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  process.stderr.write('web/api-reference/openapi.json is outdated. Run npm run reference.\n');
  process.exitCode = 1;
}
