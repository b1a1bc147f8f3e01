import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { PageFile } from '../../lib/pages/build-pages.ts';
import { keyOf } from '../../lib/pages/page-object.ts';
import { toTable } from '../output.ts';

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      environment: z.string().default(''),
      displayName: z.string().default(''),
      properties: z.object({ stackName: z.string().default(''), templateFile: z.string().default('') }).prefault({}),
    }),
  ),
});
const templateSchema = z.object({ Resources: z.record(z.string(), z.unknown()) });

/** Lists the stacks of a cloud assembly folder, and the pages, that a deployment would create. */
export const toPlan = (assembly: string, pages: readonly PageFile[]): string => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  const stacks = Object.values(manifestSchema.parse(read('manifest.json')).artifacts).filter(
    ({ type }) => type === 'aws:cloudformation:stack',
  );
  const rows = stacks.map(({ environment, properties: { stackName, templateFile } }) => ({
    stack: stackName,
    region: environment.split('/').at(-1) ?? '',
    resources: Object.keys(templateSchema.parse(read(templateFile)).Resources).length,
  }));
  const files = pages.map((page) => ({ page: keyOf(page), type: page.mediaType, bytes: page.bytes.length }));
  return `${toTable(['stack', 'region', 'resources'], rows)}\n${toTable(['page', 'type', 'bytes'], files)}`;
};
