import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReference, toText } from '../reference/document.ts';

/** `--check` changes nothing and exits with 1 when the file is not what the sources say. */
const path = join(import.meta.dirname, '../web/api-reference/openapi.json');
const text = toText(createReference());

if (!process.argv.includes('--check')) writeFileSync(path, text);
else if (readFileSync(path, 'utf8') !== text) {
  process.stderr.write('web/api-reference/openapi.json is stale: run npm run reference\n');
  process.exitCode = 1;
}
