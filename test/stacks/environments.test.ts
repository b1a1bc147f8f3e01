import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { functionForUnknownRoutes, routes } from '../../lambdas/routes.ts';
import { functionsOf, hasCanary } from '../../lib/environment-schema.ts';
import { environmentNames, environments, parseEnvironment } from '../../lib/environments.ts';
import { functionNames, functions } from '../../lib/functions.ts';
import { checkModels } from '../../lib/gateway-stage.ts';
import { environmentOf, newApp, ofType, only, readGateway, synthesize } from './synthesize.ts';

const resourcesSchema = z.object({ Resources: z.record(z.string(), z.object({ Type: z.string() })) });

test('OPS-1 every environment has the same resources, and only dev has no deletion protection', () => {
  const [first, ...others] = environmentNames.map((name) => {
    // Only dev has no canary, which is resources of its own.
    const { stacks } = name === 'dev' ? synthesize(name, 'with a canary') : synthesize(name);
    for (const { stackName, terminationProtection } of stacks)
      expect(terminationProtection, stackName).toBe(name !== 'dev');
    return stacks.map((stack) =>
      Object.values(resourcesSchema.parse(Template.fromStack(stack).toJSON()).Resources).map(({ Type }) => Type),
    );
  });
  for (const other of others) expect(other).toEqual(first);
});

test('OPS-13 an environment has a canary only if it says so and has one URL for all routes', () => {
  expect(environmentNames.filter((name) => hasCanary(environments[name]))).toEqual(['staging', 'prod']);
  expect(hasCanary(environmentOf('prod', 'none'))).toBe(false);
  for (const { data, api, operations } of [synthesize('dev'), synthesize('prod', 'none')])
    for (const { template } of [data, api, operations])
      expect(JSON.stringify(template.toJSON()).replaceAll('LambdaCanary10Percent', '')).not.toMatch(/canary/i);
});

test('AUTH-5 a new restart word changes the environment of every function', () => {
  const { api } = readGateway(newApp({ context: { restart: 'first' } }), 'dev', environmentOf('dev'));
  for (const type of ['AWS::Lambda::Function', 'AWS::Lambda::WebFunctionRevision']) {
    const own = ofType(api, type).filter(({ Properties }) =>
      JSON.stringify(Properties).includes('"LOG_FORMAT":"json"'),
    );
    expect(own.length).toBeGreaterThan(1);
    for (const { Properties } of own) expect(JSON.stringify(Properties)).toContain('"RESTART":"first"');
  }
});

const environment = parseEnvironment({
  ...environments.dev,
  markup: '1.25',
  memoryMb: { text: 2_048 },
  reservedConcurrency: { text: 50 },
  catalogs: ['google', 'openai'],
  publicUrl: 'https://gateway.example',
  uncollectedDailyUsd: '0.25',
  bot: { startCreditUsd: '0.5', topUpText: 'https://pay.example/?account={account}' },
  videos: { VIDEO_LIMIT_SECONDS: 1_800, VIDEO_POLL_SECONDS: 7 },
});
const changed = readGateway(newApp(), 'dev', environment);
const variablesSchema = z.object({ Variables: z.record(z.string(), z.unknown()) });

const functionOf = (name: string) => {
  const found = [changed.api, changed.video]
    .flatMap((stack) => ofType(stack, 'AWS::Lambda::Function'))
    .find(({ Properties }) => Properties.FunctionName === `gateway-dev-${name}`)?.Properties;
  return { ...found, variables: variablesSchema.parse(found?.Environment).Variables };
};

test('CAT-1 memory, concurrency, markup, allowance and companies reach the functions', () => {
  expect(functionOf('text')).toMatchObject({
    MemorySize: 2_048,
    ReservedConcurrentExecutions: 50,
    variables: { MARKUP: '1.25', UNCOLLECTED_DAILY_USD: '0.25', CATALOGS: 'google,openai' },
  });
});

test('KEY-1 the bot settings and the URL reach the functions that show them, and no other', () => {
  const settings = {
    PUBLIC_URL: 'https://gateway.example',
    START_CREDIT_USD: '0.5',
    TOP_UP_TEXT: 'https://pay.example/?account={account}',
  };
  for (const { name, description } of functionsOf(environment).events) {
    const variables = Object.entries(functionOf(name).variables).filter(([variable]) => variable in settings);
    const linked = description.linksMedia ? { PUBLIC_URL: settings.PUBLIC_URL } : {};
    const topUp = name === 'app' ? { TOP_UP_TEXT: settings.TOP_UP_TEXT } : {};
    const expected = name === 'bot' || name === 'notices' ? settings : { ...linked, ...topUp };
    expect(Object.fromEntries(variables), name).toEqual(expected);
  }
});

test('VID-7 the video times of an environment reach the state machine and the functions', () => {
  const machine = only(changed.video, 'AWS::StepFunctions::StateMachine').Properties;
  expect(machine.DefinitionSubstitutions).toMatchObject({
    FirstWaitSeconds: '7',
    LimitSeconds: '1800',
    RetrySeconds: '2',
  });
  expect(functionOf('videoSteps').variables).toMatchObject({
    VIDEO_LIMIT_SECONDS: '1800',
    VIDEO_POLL_SECONDS: '7',
    VIDEO_HOLD_SECONDS: '7200',
  });
});

test('CAT-5 an invalid catalog stops synthesis with its id and field', () => {
  const catalog = { providers: { providers: [] }, companies: { openai: { models: [{ id: 'gpt-x', kind: 'text' }] } } };
  expect(() => checkModels(environments.dev, catalog)).toThrow(/gpt-x {2}prices {2}is missing/);
});

test('every route has a function with a URL or a server, and every such function a route', () => {
  const routed = new Set([...Object.values(routes).map((route) => route.function), functionForUnknownRoutes]);
  // `inference` serves the routes of other functions.
  const withUrl = functionNames.filter(
    (name) => name !== 'inference' && ['url', 'web'].includes(functions[name].trigger),
  );
  expect([...routed].sort()).toEqual([...withUrl].sort());
  expect([...functionNames].sort()).toEqual(Object.keys(functions).sort());
});
