import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
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

/** Lists the stacks of a cloud assembly folder, which a deployment would create. */
export const toPlan = (assembly: string): string => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  const stacks = Object.values(manifestSchema.parse(read('manifest.json')).artifacts).filter(
    ({ type }) => type === 'aws:cloudformation:stack',
  );
  const rows = stacks.map(({ environment, properties: { stackName, templateFile } }) => ({
    stack: stackName,
    region: environment.split('/').at(-1) ?? '',
    resources: Object.keys(templateSchema.parse(read(templateFile)).Resources).length,
  }));
  return toTable(['stack', 'region', 'resources'], rows);
};
