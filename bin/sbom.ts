import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import * as z from 'zod';
import { packagesOfPages } from '../lib/pages/build-pages.ts';

/**
 * `npm sbom --omit dev` also leaves out what a package for development needs as well, zod and most of the AWS SDK among them, so that
 * npm lists everything here and the lockfile says what is deployed.
 */
const root = join(import.meta.dirname, '..');
const [path = join(root, 'sbom.cdx.json')] = new Command('sbom')
  .description('write a CycloneDX list of the packages that are deployed')
  .argument('[file]', 'where to; without it sbom.cdx.json beside package.json')
  .parse().args;

const lockfileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), dev: z.boolean().optional(), optional: z.boolean().optional() }),
  ),
});
const sbomSchema = z.looseObject({
  components: z.array(z.looseObject({ name: z.string(), version: z.string(), 'bom-ref': z.string() })),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).optional() })),
});

const pages = await packagesOfPages();
const { packages } = lockfileSchema.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
const deployed = new Set(
  Object.entries(packages).flatMap(([folder, { version, dev, optional }]) => {
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return folder !== '' && (pages.has(name) || !(dev || optional)) ? [`${name}@${version}`] : [];
  }),
);

const npm = spawnSync(
  'npm',
  ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'],
  {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  },
);
if (npm.status !== 0) throw new Error(`npm sbom ended with ${npm.status}: ${npm.stderr}`);
const sbom = sbomSchema.parse(JSON.parse(npm.stdout));
const components = sbom.components.filter(({ name, version }) => deployed.has(`${name}@${version}`));
const refs = new Set(components.map((component) => component['bom-ref']));
const dependencies = sbom.dependencies
  .filter(({ ref }) => refs.has(ref) || !sbom.components.some((component) => component['bom-ref'] === ref))
  .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn?.filter((ref) => refs.has(ref)) }));
writeFileSync(path, `${JSON.stringify({ ...sbom, components, dependencies }, null, 2)}\n`);
process.stdout.write(`${components.length} packages are in ${path}\n`);
