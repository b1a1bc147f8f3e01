import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { functionForUnknownRoutes, routes } from '../../lambdas/routes.ts';
import {
  environmentNames,
  environmentSchema,
  environments,
  type FrontDoorName,
  parseEnvironment,
} from '../../lib/environments.ts';
import { functionNames, functions } from '../../lib/functions.ts';
import { functionsOf } from '../../lib/functions-of.ts';
import { addGateway } from '../../lib/gateway.ts';
import { newApp, ofType, root, synthesize } from './synthesize.ts';

const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      dependencies: z.array(z.string()).default([]),
      properties: z.object({ stackName: z.string().optional() }).default({}),
    }),
  ),
});

const resourcesSchema = z.object({ Resources: z.record(z.string(), z.object({ Type: z.string() })) });
const contextSchema = z.object({ context: z.record(z.string(), z.unknown()) });
const nowhere = 'http://127.0.0.1:9';

/** Without credentials and without a network. */
const runApart = (command: readonly string[], folder: string, variables: Readonly<Record<string, string>>) =>
  spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: folder,
      HTTP_PROXY: nowhere,
      HTTPS_PROXY: nowhere,
      // Node's own clients look at the two only if they are told to.
      NODE_USE_ENV_PROXY: '1',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...variables,
    },
  });

const synthesizeApart = (command: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
  const output = join(folder, 'out');
  try {
    const words = command.map((word) => word.replace('<output>', output));
    const { status, stderr } = runApart(words, folder, { CDK_OUTDIR: output, ...variables });
    expect(status, stderr).toBe(0);
    const { artifacts } = manifestSchema.parse(JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')));
    const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
    const nameOf = new Map(stacks.map(([id, { properties }]) => [id, properties.stackName ?? '']));
    return new Map(
      stacks.map(([, { properties, dependencies }]) => [
        properties.stackName ?? '',
        dependencies.map((of) => nameOf.get(of)),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The stacks of every environment; those of CloudFront only where it is the front door. */
const stackNames = (frontDoor: FrontDoorName): readonly string[] => {
  const behindAll = ['api', 'data', 'operations', 'video'];
  const stacks = frontDoor === 'cloudfront' ? [...behindAll, 'access-logs', 'edge', 'global'] : behindAll;
  return environmentNames.flatMap((name) => stacks.map((stack) => `gateway-${name}-${stack}`)).sort();
};

test('OPS-1 the app synthesizes without credentials and without a network, and the data stands first', () => {
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
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

test.each(['api-gateway', 'none'] as const)(
  'OPS-1 the app synthesizes behind %s as well, by one word on the command line',
  (frontDoor) => {
    // As the command line of CDK hands it over, without the bundles.
    const stacks = synthesizeApart([join(root, 'bin/gateway.ts')], withContext({ frontDoor }));
    expect([...stacks.keys()].sort()).toEqual(stackNames(frontDoor));
  },
);

const withContext = (context: Readonly<Record<string, unknown>>): Record<string, string> => {
  const config = contextSchema.parse(JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8')));
  return { CDK_CONTEXT_JSON: JSON.stringify({ ...config.context, 'aws:cdk:bundling-stacks': [], ...context }) };
};

test('OPS-1 behind API Gateway, where files have a function of another kind, the bundles are made as well', () => {
  const cdk = join(root, 'node_modules/aws-cdk/bin/cdk');
  const words = ['-c', 'environment=dev', '-c', 'frontDoor=api-gateway'];
  const stacks = synthesizeApart([cdk, 'synth', '--quiet', '--output', '<output>', ...words]);
  expect([...stacks.keys()].sort()).toEqual(stackNames('api-gateway').filter((stack) => stack.includes('-dev-')));
});

test.each([
  [{ frontDoor: 'nginx' }, /^environments\.dev\.frontDoor: /m],
  [{ environment: 'production' }, /^-c environment: must be one of dev, staging, prod$/m],
  [{ frontdoor: 'none' }, /^-c frontdoor: is not known; there is environment, frontDoor, restart, /m],
  [{ environment: 'dev', originSecretVersion: 'v1' }, /^-c originSecretVersion: must be a VersionId/m],
])('OPS-1 what is wrong on the command line stops synthesis, and is told by its path: %o', (context, told) => {
  const { status, stderr } = runApart([join(root, 'bin/gateway.ts')], tmpdir(), withContext(context));
  expect([status, stderr]).toEqual([1, expect.stringMatching(told)]);
  expect(stderr).not.toContain('    at ');
});

test('OPS-1 one environment may be synthesized alone', () => {
  const program = [join(root, 'bin/gateway.ts')];
  const stacks = synthesizeApart(program, withContext({ environment: 'staging' }));
  expect([...stacks.keys()].sort()).toEqual(stackNames('cloudfront').filter((stack) => stack.includes('-staging-')));
});

test('AUTH-5 with a new word for a restart every function is another one', () => {
  const app = newApp({ bundling: false });
  app.node.setContext('restart', 'first');
  const { api } = synthesize('dev', app);
  for (const type of ['AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision']) {
    const own = ofType(api, type).filter(({ Properties }) =>
      JSON.stringify(Properties).includes('"LOG_FORMAT":"json"'),
    );
    expect(own.length).toBeGreaterThan(1);
    for (const { Properties } of own) expect(JSON.stringify(Properties)).toContain('"RESTART":"first"');
  }
});

test('OPS-1 every environment has the same resources; staging and prod are protected from deletion', () => {
  const synthesized = environmentNames.map((name) => ({ name, ...synthesize(name) }));
  const typesOf = (stack: Stack) =>
    Object.values(resourcesSchema.parse(Template.fromStack(stack).toJSON()).Resources).map(({ Type }) => Type);
  const [first, ...others] = synthesized.map(({ stacks }) => stacks.map(typesOf));
  for (const other of others) expect(other).toEqual(first);
  for (const { name, stacks } of synthesized)
    for (const { stackName, terminationProtection } of stacks)
      expect(terminationProtection, stackName).toBe(name !== 'dev');
});

test('what an environment says of memory, concurrency and markup reaches the functions', () => {
  const environment = {
    ...environments.dev,
    markup: '1.25',
    memoryMb: { text: 2_048 },
    reservedConcurrency: { text: 50 },
  };
  const { api } = addGateway(newApp({ bundling: false }), 'dev', environment);
  const text = api.node.findChild('text').node.findChild('function').node.defaultChild;
  expect(api.resolve(text && Reflect.get(text, 'memorySize'))).toBe(2_048);
  expect(api.resolve(text && Reflect.get(text, 'reservedConcurrentExecutions'))).toBe(50);
});

test('KEY-1 what an environment says of the bot and its address reaches the functions that show it, and no other', () => {
  const environment = environmentSchema.parse({
    ...environments.dev,
    publicUrl: 'https://gateway.example',
    bot: { startCreditUsd: '0.5', topUpText: 'https://pay.example/?account={account}' },
  });
  const { api, video } = addGateway(newApp({ bundling: false }), 'dev', environment);
  const told = {
    PUBLIC_URL: 'https://gateway.example',
    START_CREDIT_USD: '0.5',
    TOP_UP_TEXT: 'https://pay.example/?account={account}',
  };
  const ofFunction = z.looseObject({ variables: z.record(z.string(), z.unknown()) });
  for (const { name, description } of functionsOf(environment).events) {
    const stack = name === 'videoSteps' ? video : api;
    const built = stack.node.findChild(name).node.findChild('function').node.defaultChild;
    const { variables } = ofFunction.parse(stack.resolve(built && Reflect.get(built, 'environment')));
    const shown = Object.fromEntries(Object.entries(variables).filter(([variable]) => variable in told));
    const linked = description.linksMedia ? { PUBLIC_URL: told.PUBLIC_URL } : {};
    expect(shown, name).toEqual(name === 'bot' || name === 'notices' ? told : linked);
  }
});

test('VID-7 what an environment says of the times of videos reaches the state machine and the functions', () => {
  const times = { VIDEO_LIMIT_SECONDS: 1_800, VIDEO_POLL_SECONDS: 7 };
  const environment = environmentSchema.parse({ ...environments.dev, videos: times });
  const { video } = addGateway(newApp({ bundling: false }), 'dev', environment);
  const machine = video.machine.node.defaultChild;
  expect(video.resolve(machine && Reflect.get(machine, 'definitionSubstitutions'))).toMatchObject({
    FirstWaitSeconds: '7',
    LimitSeconds: '1800',
    RetrySeconds: '2',
  });
  const steps = video.node.findChild('videoSteps').node.findChild('function').node.defaultChild;
  expect(video.resolve(steps && Reflect.get(steps, 'environment'))).toMatchObject({
    variables: { VIDEO_LIMIT_SECONDS: '1800', VIDEO_POLL_SECONDS: '7', VIDEO_HOLD_SECONDS: '7200' },
  });
});

test('CAT-5 an invalid catalog stops synthesis and is told by id and field', () => {
  const catalog = { providers: { providers: [] }, companies: { openai: { models: [{ id: 'gpt-x', kind: 'text' }] } } };
  expect(() => addGateway(newApp({ bundling: false }), 'dev', environments.dev, catalog)).toThrow(
    /gpt-x {2}prices {2}is missing/,
  );
});

test('CAT-1 only the companies of an environment are told to its functions', () => {
  const environment = parseEnvironment({ ...environments.dev, catalogs: ['google', 'openai'] });
  const { api } = addGateway(newApp({ bundling: false }), 'dev', environment);
  const text = api.node.findChild('text').node.findChild('function').node.defaultChild;
  expect(api.resolve(text && Reflect.get(text, 'environment'))).toMatchObject({
    variables: { CATALOGS: 'google,openai' },
  });
});

test('every route leads to a function with a URL or a server of its own, and every such function has a route', () => {
  const routed = new Set([...Object.values(routes).map((route) => route.function), functionForUnknownRoutes]);
  // What `inference` serves are the routes of others.
  const withUrl = functionNames.filter(
    (name) => name !== 'inference' && ['url', 'web'].includes(functions[name].trigger),
  );
  expect([...routed].sort()).toEqual([...withUrl].sort());
  expect([...functionNames].sort()).toEqual(Object.keys(functions).sort());
});
