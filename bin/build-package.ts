import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { bundle, bundlePath } from '../lib/constructs/bundled-code.ts';
import { functionsOf } from '../lib/environment-schema.ts';
import { environments, frontDoors } from '../lib/environments.ts';

const root = join(import.meta.dirname, '..');
// Node strips no types in `node_modules`, so a package cannot deliver sources.
const [dist = join(root, 'dist')] = new Command('build')
  .description('compile the construct and bundle the functions for npm pack')
  .argument('[folder]', 'folder to write; default: dist next to package.json')
  .parse().args;
rmSync(dist, { recursive: true, force: true });

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.package.json', '--outDir', dist], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);

// Files that the constructs read.
for (const file of ['cdk.json', 'lib/edge/viewer-function.js', 'lib/edge/media-function.js', 'lib/video/video.asl'])
  cpSync(join(root, file), join(dist, file));

const variants = frontDoors.map((frontDoor) => functionsOf({ ...environments.prod, frontDoor }));
const all = variants.flatMap(({ events, webs }) => [...events, ...webs].map(({ description }) => description));
const bundles = new Map(all.map((description) => [bundlePath(join(dist, 'functions'), description), description]));
for (const [folder, description] of bundles) bundle(description, folder);
process.stdout.write(`Wrote the construct and ${bundles.size} functions to ${dist}. Run npm pack.\n`);
