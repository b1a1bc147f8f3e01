import { globSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';
import { readSource, repository } from '../architecture/read-imports.ts';

const stepSchema = z.strictObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  shell: z.string().optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  env: z.record(z.string(), z.string()).optional(),
});
export type Step = z.output<typeof stepSchema>;

const permissionsSchema = z.record(z.string(), z.enum(['read', 'write', 'none']));

const jobSchema = z.looseObject({
  needs: z.string().optional(),
  if: z.string().optional(),
  environment: z.string().optional(),
  permissions: permissionsSchema.optional(),
  concurrency: z.strictObject({ group: z.string() }).optional(),
  steps: z.array(stepSchema),
});
export type Job = z.output<typeof jobSchema>;

const workflowSchema = z.looseObject({
  // `null` for a trigger without settings.
  on: z.record(z.string(), z.looseObject({}).nullable()),
  permissions: permissionsSchema,
  jobs: z.record(z.string(), jobSchema),
});

export interface Workflow extends z.output<typeof workflowSchema> {
  readonly path: string;
  readonly source: string;
}

/** Returns the workflows of a repository, sorted by path. Throws a ZodError for a field that the rules do not know. */
export const readWorkflows = (): readonly Workflow[] =>
  globSync('.github/workflows/*', { cwd: repository })
    .toSorted()
    .map((path) => {
      const source = readSource(path);
      return { path, source, ...workflowSchema.parse(parse(source)) };
    });

/** Jobs of all workflows, with their paths as `<workflow> <job>`. */
export const jobsOf = (workflows: readonly Workflow[]): ReadonlyMap<string, Job> =>
  new Map(workflows.flatMap(({ path, jobs }) => Object.entries(jobs).map(([id, job]) => [`${path} ${id}`, job])));
