import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';

const root = join(import.meta.dirname, '../..');

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });
const sbomSchema = z.object({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(z.object({ name: z.string(), version: z.string(), licenses: z.array(z.unknown()).optional() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

test('the SBOM lists all deployed dependencies and page packages, but no development packages', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'sbom-')), 'sbom.json');
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'bin/sbom.ts'), file], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  const { components, dependencies } = sbomSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const listed = new Map(components.map(({ name, version }) => [name, version]));
  const own = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  // Only the local gateway needs this package and its dependencies.
  const { 'aws-local-stepfunctions': _, ...deployed } = own.dependencies;
  for (const [name, version] of Object.entries(deployed)) expect(listed.get(name), name).toBe(version);
  // Transitive dependencies, and packages bundled into pages.
  for (const name of ['@smithy/core', '@aws-sdk/core', 'preact']) expect(listed.has(name), name).toBe(true);
  for (const name of ['aws-cdk-lib', 'vitest', 'typescript', 'openai', '@dynoxide/linux-x64'])
    expect(listed.has(name), name).toBe(false);
  for (const name of ['aws-local-stepfunctions', 'asl-validator']) expect(listed.has(name), name).toBe(false);
  const refs = new Set(dependencies.map(({ ref }) => ref));
  for (const { dependsOn = [] } of dependencies) for (const ref of dependsOn) expect(refs.has(ref), ref).toBe(true);
});
