import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildFiles } from '../lib/pages/build-pages.ts';
import { builtFolder, pageSources } from '../local/pages.ts';

/** Writes every page to `built/pages`, so that a production install serves pages without esbuild. */
for (const [page, source] of Object.entries(pageSources)) {
  const folder = join(builtFolder, page);
  rmSync(folder, { recursive: true, force: true });
  for (const { file, bytes } of await buildFiles(source)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
}
