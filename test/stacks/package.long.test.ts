import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { defaultEnvironments } from '../../lib/environments.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { newApp, root } from './synthesize.ts';

/** CDK app of another owner, which has installed the package. */
const consumer = mkdtempSync(join(tmpdir(), 'gateway-consumer-'));
const output = join(consumer, 'cdk.out');
const packages = join(consumer, 'node_modules');

/** Packages that the consumer has: what the package needs, and no tool that bundles. */
const installed = ['aws-cdk-lib', 'cdk-monitoring-constructs', 'constructs', 'marked', 'zod', '@types/node'];

const NAME = 'model-gateway';

const app = `
import { App } from 'aws-cdk-lib';
import { GatewayStage, type GatewayStageProps } from '${NAME}';
import { acknowledge } from '${NAME}/acknowledgements';
import { defaultEnvironments, defineConfig } from '${NAME}/environments';

const { environments } = defineConfig({ environments: { dev: defaultEnvironments.dev } });
const props: GatewayStageProps = environments.dev;
const app = new App({ outdir: ${JSON.stringify(output)}, analyticsReporting: false });
const stage = new GatewayStage(app, 'Dev', props);
acknowledge(stage);
// @ts-expect-error The region is a text.
export const wrong: GatewayStageProps = { ...props, region: 1 };
app.synth();
`;

/** Runs a program of Node without network access. Returns its output. */
const run = (args: readonly string[], cwd: string): string => {
  const nowhere = 'http://127.0.0.1:9';
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(':'),
      HOME: consumer,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      NODE_USE_ENV_PROXY: '1',
    },
  });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
};

/** Runs a program on the PATH. Returns its output. */
const runTool = (tool: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd, encoding: 'utf8' });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
};

beforeAll(() => {
  const source = mkdtempSync(join(tmpdir(), 'gateway-package-'));
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(root, file), join(source, file));
  run([join(root, 'bin/build-package.ts'), join(source, 'dist')], root);
  const packed = runTool('npm', ['pack', '--silent', '--pack-destination', consumer], source).trim();
  const own = join(packages, NAME);
  mkdirSync(own, { recursive: true });
  runTool('tar', ['-xzf', join(consumer, packed), '-C', own, '--strip-components=1'], consumer);
  for (const name of installed) {
    mkdirSync(dirname(join(packages, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(packages, name));
  }
  writeFileSync(join(consumer, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(consumer, 'app.ts'), app);
}, 300_000);

const templateSchema = z.object({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string(), Metadata: z.looseObject({}).default({}) })),
});
type Template = z.output<typeof templateSchema>;

/** Hash of the code and settings at the end of a version's id. The bundles of the package differ from those of the sources. */
const VERSION_HASH = /(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}$/;

/** Returns the logical ids of a template with their types, sorted. */
const idsOf = ({ Resources }: Template): readonly string[] =>
  Object.entries(Resources)
    .map(([id, { Type }]) => `${id.replace(VERSION_HASH, '')} ${Type}`)
    .toSorted();

test('OPS-18 a CDK app that has installed the package synthesizes the stacks with their code', () => {
  run(['app.ts'], consumer);
  const stage = new GatewayStage(newApp(), 'Dev', defaultEnvironments.dev);
  const stacks = stage.synth().stacks;
  expect(stacks.length).toBe(7);
  for (const { stackName, templateFile, template } of stacks) {
    const path = join(output, 'assembly-Dev', templateFile);
    const made = templateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
    expect(idsOf(made), stackName).toEqual(idsOf(templateSchema.parse(template)));
  }
  const assets = readdirSync(output).filter((name) => existsSync(join(output, name, 'index.mjs')));
  // Behind CloudFront, dev has 14 functions with events and 2 Web Functions.
  expect(assets.length).toBe(16);
});

test('OPS-18 the package contains compiled code with types and no sources', () => {
  const files = readdirSync(join(packages, NAME), { recursive: true, encoding: 'utf8' });
  expect(files.filter((path) => /(?<!\.d)\.ts$/.test(path))).toEqual([]);
  const top = new Set(files.map((path) => path.split('/')[0] ?? ''));
  expect([...top].toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
});

test('OPS-18 the types of the package check an app of another owner', () => {
  const options = ['--noEmit', '--module', 'nodenext', '--target', 'es2024', '--strict', '--skipLibCheck'];
  run([join(root, 'node_modules/typescript/bin/tsc'), ...options, '--types', 'node', 'app.ts'], consumer);
  const types = readFileSync(join(packages, NAME, 'dist/lib/environment-options.d.ts'), 'utf8');
  expect(types).toContain('Monthly bill of the whole AWS account in USD');
});
