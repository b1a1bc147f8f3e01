import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, bundlePath } from '../lib/constructs/bundled-code.ts';
import { functionsOf } from '../lib/environment-schema.ts';
import { environments, frontDoors } from '../lib/environments.ts';

// Writes `dist`, which `npm pack` packs: Node strips no types in `node_modules`, so a package cannot deliver sources.
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
rmSync(dist, { recursive: true, force: true });

const tsc = join(root, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.package.json'], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(1);

// Files that the constructs read.
for (const file of ['cdk.json', 'lib/edge/viewer-function.js', 'lib/edge/media-function.js', 'lib/video/video.asl'])
  cpSync(join(root, file), join(dist, file));

const variants = frontDoors.map((frontDoor) => functionsOf({ ...environments.prod, frontDoor }));
const all = variants.flatMap(({ events, webs }) => [...events, ...webs].map(({ description }) => description));
const bundles = new Map(all.map((description) => [bundlePath(join(dist, 'functions'), description), description]));
for (const [folder, description] of bundles) bundle(description, folder);
process.stdout.write(`dist: ${bundles.size} functions. Run npm pack.\n`);
