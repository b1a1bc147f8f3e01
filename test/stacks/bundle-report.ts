import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const reportSchema = z.object({
  /** Source files of the output, by path. */
  inputs: z.record(z.string(), z.unknown()),
  outputs: z.record(
    z.string(),
    z.object({
      bytes: z.int(),
      inputs: z.record(z.string(), z.unknown()),
      imports: z.array(z.object({ path: z.string(), kind: z.string(), external: z.boolean().default(false) })),
    }),
  ),
});

/** Reads the report of a bundle that the synthesis wrote next to its templates. */
export const readReport = (outdir: string, name: string) =>
  reportSchema.parse(JSON.parse(readFileSync(join(outdir, 'bundles', `${name}.json`), 'utf8')));

/** Returns the output file that a start loads, with its static imports. */
export const readAtStart = ({ outputs }: ReturnType<typeof readReport>) => {
  const waiting = Object.keys(outputs).filter((file) => file.endsWith('/index.mjs'));
  const found = new Map<string, (typeof outputs)[string]>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const output = outputs[file];
    if (!output || found.has(file)) continue;
    found.set(file, output);
    for (const { path, kind, external } of output.imports)
      if (kind === 'import-statement' && !external) waiting.push(path);
  }
  return [...found.values()];
};
