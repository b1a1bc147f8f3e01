import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { functionForUnknownRoutes, routes } from '../../lambdas/routes.ts';
import { environmentNames, environmentSchema, environments } from '../../lib/environments.ts';
import { functionNames, functions } from '../../lib/functions.ts';
import { addGateway } from '../../lib/gateway.ts';
import { newApp, root, type Synthesized, synthesize } from './synthesize.ts';

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

test('OPS-1 the app synthesizes without credentials and without a network, and the data stands first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cli-'));
  const output = join(folder, 'out');
  const nowhere = 'http://127.0.0.1:9';
  try {
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/aws-cdk/bin/cdk'), 'synth', '--quiet', '--output', output],
      {
        cwd: root,
        encoding: 'utf8',
        env: {
          PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
          HOME: folder,
          HTTP_PROXY: nowhere,
          HTTPS_PROXY: nowhere,
          AWS_EC2_METADATA_DISABLED: 'true',
        },
      },
    );
    expect(status, stderr).toBe(0);
    const { artifacts } = manifestSchema.parse(JSON.parse(readFileSync(join(output, 'manifest.json'), 'utf8')));
    const stacks = Object.entries(artifacts).filter(([, { type }]) => type === 'aws:cloudformation:stack');
    const nameOf = new Map(stacks.map(([id, { properties }]) => [id, properties.stackName]));
    expect([...nameOf.values()].sort()).toEqual(
      ['dev', 'prod', 'staging'].flatMap((name) => [
        `gateway-${name}-api`,
        `gateway-${name}-data`,
        `gateway-${name}-video`,
      ]),
    );
    const waitsFor = stacks.map(([id, { dependencies }]) => [nameOf.get(id), dependencies.map((of) => nameOf.get(of))]);
    for (const name of environmentNames) {
      const waits = Object.fromEntries(waitsFor);
      expect(waits[`gateway-${name}-video`]).toEqual(expect.arrayContaining([`gateway-${name}-data`]));
      expect(waits[`gateway-${name}-api`]).toEqual(
        expect.arrayContaining([`gateway-${name}-data`, `gateway-${name}-video`]),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('OPS-1 every environment has the same resources; staging and prod are protected from deletion', () => {
  const synthesized = environmentNames.map((name) => ({ name, ...synthesize(name) }));
  const typesOf = ({ resources }: Synthesized) => [...resources.values()].map(({ Type }) => Type);
  const [first, ...others] = synthesized.map(({ data, video, api }) => [
    ...typesOf(data),
    ...typesOf(video),
    ...typesOf(api),
  ]);
  for (const other of others) expect(other).toEqual(first);
  const isProtected = synthesized.map(({ name, dataStack, videoStack, apiStack }) => [
    name,
    dataStack.terminationProtection,
    videoStack.terminationProtection,
    apiStack.terminationProtection,
  ]);
  expect(isProtected).toEqual([
    ['dev', false, false, false],
    ['staging', true, true, true],
    ['prod', true, true, true],
  ]);
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
  for (const name of functionNames.filter((each) => each !== 'content')) {
    const stack = name === 'videoSteps' ? video : api;
    const built = stack.node.findChild(name).node.findChild('function').node.defaultChild;
    const { variables } = ofFunction.parse(stack.resolve(built && Reflect.get(built, 'environment')));
    const shown = Object.fromEntries(Object.entries(variables).filter(([variable]) => variable in told));
    expect(shown, name).toEqual(name === 'bot' || name === 'notices' ? told : {});
  }
});

test.each([
  ['a period CloudWatch does not know', { logRetentionDays: 8 }],
  ['a function there is not', { memoryMb: { txt: 1_024 } }],
  ['a markup that is no decimal', { markup: '1,2' }],
  ['a memory for a function that has no such setting', { memoryMb: { content: 1_024 } }],
  ['a time of videos there is not', { videos: { VIDEO_SECONDS: 1 } }],
  ['a time of videos out of bounds', { videos: { VIDEO_LIMIT_SECONDS: 0 } }],
  ['a word of its own', { retries: 1 }],
  ['an address without TLS', { publicUrl: 'http://gateway.example' }],
  ['a first credit that is no amount', { bot: { startCreditUsd: '1,5' } }],
  ['a word of its own for the bot', { bot: { token: 'x' } }],
])('an environment with %s is refused', (_, change) => {
  expect(environmentSchema.safeParse(environments.prod).success).toBe(true);
  expect(environmentSchema.safeParse({ ...environments.prod, ...change }).success).toBe(false);
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

test('BILL-13 times of videos with which a hold could end before its video stop synthesis', () => {
  const environment = environmentSchema.parse({ ...environments.dev, videos: { VIDEO_HOLD_SECONDS: 3_600 } });
  expect(() => addGateway(newApp({ bundling: false }), 'dev', environment)).toThrow('VIDEO_HOLD_SECONDS');
});

test('CAT-5 an invalid catalog stops synthesis and is told by id and field', () => {
  const catalog = { providers: { providers: [] }, companies: { openai: { models: [{ id: 'gpt-x', kind: 'text' }] } } };
  expect(() => addGateway(newApp({ bundling: false }), 'dev', environments.dev, catalog)).toThrow(
    /gpt-x {2}prices {2}is missing/,
  );
});

test('every route leads to a function with a URL or a server of its own, and every such function has a route', () => {
  const routed = new Set([...Object.values(routes).map((route) => route.function), functionForUnknownRoutes]);
  const withUrl = functionNames.filter((name) => ['url', 'web'].includes(functions[name].trigger));
  expect([...routed].sort()).toEqual([...withUrl].sort());
  expect([...functionNames].sort()).toEqual(Object.keys(functions).sort());
});
