import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import * as z from 'zod';
import { packagesOfPages } from '../lib/pages/build-pages.ts';

/** Packages that only the local gateway needs. No function on AWS contains them. */
const LOCAL_ONLY = new Set(['aws-local-stepfunctions']);

const root = join(import.meta.dirname, '..');
const [path = join(root, 'sbom.cdx.json')] = new Command('sbom')
  .description('write a CycloneDX list of the deployed packages')
  .argument('[file]', 'file to write; default: sbom.cdx.json next to package.json')
  .parse().args;

const packageSchema = z.object({ dependencies: z.record(z.string(), z.string()) });
const sbomSchema = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ 'bom-ref': z.string() }) }),
  components: z.array(z.looseObject({ name: z.string(), version: z.string(), 'bom-ref': z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

// `npm sbom --omit dev` also omits packages that development and deployment share, such as zod and most of the AWS SDK.
// So npm lists everything here, and this program follows the dependencies of the deployed packages.
const npm = spawnSync(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'],
  {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  },
);
if (npm.status !== 0) throw new Error(`npm sbom failed with exit code ${npm.status}: ${npm.stderr}`);
const sbom = sbomSchema.parse(JSON.parse(npm.stdout));
const own = packageSchema.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
const deployed = new Set(Object.keys(own.dependencies).filter((name) => !LOCAL_ONLY.has(name)));
// Page bundles contain these packages, but not their dependencies.
const pages = await packagesOfPages();
const gateway = sbom.metadata.component['bom-ref'];
const dependsOn = new Map(sbom.dependencies.map((dependency) => [dependency.ref, dependency.dependsOn ?? []]));
const names = new Map(sbom.components.map((component) => [component['bom-ref'], component.name]));
const refs = new Set((dependsOn.get(gateway) ?? []).filter((ref) => deployed.has(names.get(ref) ?? '')));
// Iterating over a set also visits elements that are added during the loop.
for (const ref of refs) for (const needed of dependsOn.get(ref) ?? []) refs.add(needed);
for (const [ref, name] of names) if (pages.has(name)) refs.add(ref);
const components = sbom.components.filter((component) => refs.has(component['bom-ref']));
const dependencies = sbom.dependencies
  .filter(({ ref }) => ref === gateway || refs.has(ref))
  .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn?.filter((ref) => refs.has(ref)) }));
writeFileSync(path, `${JSON.stringify({ ...sbom, components, dependencies }, null, 2)}\n`);
process.stdout.write(`Wrote ${components.length} packages to ${path}\n`);
