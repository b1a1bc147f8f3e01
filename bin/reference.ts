import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReference, toText } from '../reference/document.ts';
import { createErrorsPage } from '../reference/errors-page.ts';
import { llmsText } from '../reference/llms.ts';
import { createUsageEventSchema } from '../reference/usage-event-schema.ts';

/** Generated files by path. `--check` changes nothing and exits with 1 when a file differs from its sources. */
const files = {
  'web/api-reference/openapi.json': toText(createReference()),
  'web/api-reference/llms.txt': llmsText(),
  'docs/guides/errors-and-retries.md': createErrorsPage(),
  'docs/operations/usage-event.schema.json': toText(createUsageEventSchema()),
};

for (const [name, text] of Object.entries(files)) {
  const path = join(import.meta.dirname, '..', name);
  if (!process.argv.includes('--check')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    process.stderr.write(`${name} is outdated. Run npm run reference.\n`);
    process.exitCode = 1;
  }
}
