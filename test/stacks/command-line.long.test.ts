import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { environmentNames, type FrontDoorName } from '../../lib/environments.ts';
import { root } from './synthesize.ts';

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      dependencies: z.array(z.string()).default([]),
      properties: z.object({ stackName: z.string().optional(), directoryName: z.string().optional() }).default({}),
    }),
  ),
});
const contextSchema = z.object({ context: z.record(z.string(), z.unknown()) });
const nowhere = 'http://127.0.0.1:9';

/** Runs a program without credentials and without network access. */
const runApart = (command: readonly string[], folder: string, variables: Readonly<Record<string, string>>) =>
  spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: folder,
      // The CDK command line leaves `cdk.out*` in this folder.
      TMPDIR: folder,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      // Without this, Node's own clients ignore both proxy variables.
      NODE_USE_ENV_PROXY: '1',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...variables,
    },
  });

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'gateway-cli-'));

/** Returns the artifacts of a cloud assembly and of its nested ones: one per environment. */
const artifactsOf = (folder: string): z.output<typeof manifestSchema>['artifacts'] => {
  const { artifacts } = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
  const nested = Object.values(artifacts).flatMap(({ properties: { directoryName } }) => directoryName ?? []);
  return Object.assign({}, artifacts, ...nested.map((name) => artifactsOf(join(folder, name))));
};

/** Returns the stacks that a command synthesizes, with their dependencies. */
const synthesizeApart = (command: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
  const folder = newFolder();
  const output = join(folder, 'out');
  const words = command.map((word) => word.replace('<output>', output));
  const { status, stderr } = runApart(words, folder, { CDK_OUTDIR: output, ...variables });
  expect(status, stderr).toBe(0);
  const artifacts = artifactsOf(output);
  const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
  const nameOf = new Map(stacks.map(([id, { properties }]) => [id, properties.stackName ?? '']));
  return new Map(
    stacks.map(([, { properties, dependencies }]) => [
      properties.stackName ?? '',
      dependencies.map((of) => nameOf.get(of)),
    ]),
  );
};

/** Returns the names of the stacks of every environment. Those of CloudFront exist only with that front door. */
const stackNames = (frontDoor: FrontDoorName): readonly string[] => {
  const behindAll = ['api', 'data', 'operations', 'video'];
  const stacks = frontDoor === 'cloudfront' ? [...behindAll, 'access-logs', 'edge', 'global'] : behindAll;
  return environmentNames.flatMap((name) => stacks.map((stack) => `gateway-${name}-${stack}`)).sort();
};

const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
const program = join(root, 'bin/gateway.ts');

/** Returns the context that the CDK command line passes to the program, without the bundles. */
const withContext = (context: Readonly<Record<string, unknown>>): Record<string, string> => {
  const config = contextSchema.parse(JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')));
  return { CDK_CONTEXT_JSON: JSON.stringify({ ...config.context, 'aws:cdk:bundling-stacks': [], ...context }) };
};

test('OPS-1 the app synthesizes without credentials and network, with the data stack first', () => {
  const stacks = synthesizeApart([cdk, 'synth', '--quiet', '--output', '<output>']);
  expect([...stacks.keys()].sort()).toEqual(stackNames('cloudfront'));
  for (const name of environmentNames) {
    const waits = (stack: string) => stacks.get(`gateway-${name}-${stack}`);
    expect(waits('video')).toEqual(expect.arrayContaining([`gateway-${name}-data`]));
    expect(waits('api')).toEqual(expect.arrayContaining([`gateway-${name}-data`, `gateway-${name}-video`]));
    expect(waits('edge')).toEqual(expect.arrayContaining([`gateway-${name}-api`, `gateway-${name}-global`]));
    expect(waits('data')).not.toEqual(expect.arrayContaining([expect.stringMatching(/^gateway-/)]));
  }
});

test('OPS-1 the app synthesizes without a front door by one command-line option', () => {
  const stacks = synthesizeApart([program], withContext({ frontDoor: 'none' }));
  expect([...stacks.keys()].sort()).toEqual(stackNames('none'));
});

test('OPS-1 the app synthesizes one environment behind API Gateway, with its bundles', () => {
  const words = ['-c', 'environment=dev', '-c', 'frontDoor=api-gateway'];
  const stacks = synthesizeApart([cdk, 'synth', '--quiet', '--output', '<output>', ...words]);
  expect([...stacks.keys()].sort()).toEqual(stackNames('api-gateway').filter((stack) => stack.includes('-dev-')));
});

/** Removes the prices of every model from a catalog file while the program reads it. */
const withoutPrices = `
import { registerHooks } from 'node:module';
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (!url.endsWith('/catalog/openai.json')) return loaded;
    const { models } = JSON.parse(String(loaded.source));
    return { ...loaded, source: JSON.stringify({ models: models.map((model) => ({ ...model, prices: [] })) }) };
  },
});`;

test('CAT-5 an invalid catalog file stops the synthesis with the models and the field', () => {
  const hook = `--import=data:text/javascript,${encodeURIComponent(withoutPrices)}`;
  const folder = newFolder();
  const { status, stderr } = runApart([program], folder, {
    ...withContext({ environment: 'dev' }),
    CDK_OUTDIR: join(folder, 'out'),
    NODE_OPTIONS: hook,
  });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^gpt-4\.1-mini {2}prices {2}/m)]);
  expect(existsSync(join(folder, 'out/manifest.json'))).toBe(false);
});

test.each([
  [{ frontDoor: 'nginx' }, /^environments\.dev\.frontDoor: /m],
  [{ environment: 'production' }, /^-c environment: must be one of dev, staging, prod\.$/m],
  [{ frontdoor: 'none' }, /^-c frontdoor: unknown name\. Use one of environment, frontDoor, restart, /m],
  [{ environment: 'dev', originSecretVersion: 'v1' }, /^-c originSecretVersion: must be a VersionId/m],
])('OPS-1 an invalid context value stops the synthesis with its path: %o', (context, message) => {
  const { status, stderr } = runApart([program], newFolder(), withContext(context));
  expect([status, stderr]).toEqual([1, expect.stringMatching(message)]);
  expect(stderr).not.toContain('    at ');
});
