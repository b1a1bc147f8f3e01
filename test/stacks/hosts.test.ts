import { expect, test } from 'vitest';
import type { Environment } from '../../lib/environments.ts';
import { environments, parseEnvironment } from '../../lib/environments.ts';
import type { FunctionDescription } from '../../lib/function-description.ts';
import { unionOf } from '../../lib/function-grants.ts';
import { functions } from '../../lib/functions.ts';
import { functionsOf } from '../../lib/functions-of.ts';
import { addGateway } from '../../lib/gateway.ts';
import { inferenceFunctionNames } from '../../lib/inference-functions.ts';
import { newApp } from './synthesize.ts';

const environmentWith = (change: Partial<Environment>): Environment =>
  parseEnvironment({ ...environments.dev, ...change });

const builtFor = (change: Partial<Environment>) => {
  const { api } = addGateway(newApp({ bundling: false }), 'dev', environmentWith(change));
  return {
    api,
    webs: [...api.webFunctions.keys()],
    hosts: Object.fromEntries([...api.hosts].map(([name, host]) => [name, JSON.stringify(api.resolve(host))])),
  };
};

const always = ['catalog', 'account', 'bot', 'app', 'content'];

test.each([
  [
    'cloudfront',
    'web-function',
    'function-url',
    ['content', 'inference'],
    [...always, ...inferenceFunctionNames, 'inference'],
  ],
  ['cloudfront', 'off', 'function-url', ['content', 'inference'], [...always, ...inferenceFunctionNames, 'inference']],
  ['none', 'off', 'function-url', ['content'], [...always, ...inferenceFunctionNames]],
  ['none', 'off', 'web-function', ['content', 'inference'], [...always, ...inferenceFunctionNames, 'inference']],
  ['api-gateway', 'web-function', 'function-url', [], []],
] as const)(
  'GEN-1 with frontDoor %s, largeBodies %s and inferenceHost %s the Web Functions are %j, and those with an address %j',
  (frontDoor, largeBodies, inferenceHost, expectedWebs, expectedHosts) => {
    const { webs, hosts } = builtFor({ frontDoor, largeBodies, inferenceHost });
    expect(webs).toEqual(expectedWebs);
    expect(Object.keys(hosts).sort()).toEqual([...expectedHosts].sort());
  },
);

test('GEN-1 where the Web Function serves inference alone, every route of it leads there, and nothing else does', () => {
  const { api, hosts } = builtFor({ frontDoor: 'none', inferenceHost: 'web-function' });
  for (const name of inferenceFunctionNames) {
    expect(hosts[name]).toBe(hosts.inference);
    // Whoever still knows it by its own address is served.
    expect(api.lambdas.has(name)).toBe(true);
  }
  const others = Object.entries(hosts).filter(
    ([name]) => ![...inferenceFunctionNames, 'inference'].some((one) => one === name),
  );
  expect(others).toHaveLength(always.length);
  for (const [, host] of others) expect(host).not.toBe(hosts.inference);
  const besides = builtFor({ frontDoor: 'none' }).hosts;
  expect(new Set(Object.values(besides)).size).toBe(Object.values(besides).length);
});

test('OPS-1 behind CloudFront, what the edge has led to until now stays whatever is chosen next', () => {
  const choices: readonly Partial<Environment>[] = [
    {},
    { largeBodies: 'off' },
    { inferenceHost: 'web-function' },
    { inferenceHost: 'web-function', largeBodies: 'off' },
  ];
  const addresses = choices.map((change) =>
    builtFor(change)
      .api.node.children.map(({ node }) => node.id)
      .filter((id) => id.endsWith('HostName')),
  );
  expect(addresses[0]).toHaveLength(always.length + inferenceFunctionNames.length + 1);
  for (const each of addresses) expect(each.sort()).toEqual(addresses[0]?.sort());
});

test('GEN-14 a Web Function that waits for vendors most of the time is given more at a time than one for large bodies', () => {
  const concurrencyOf = (change: Partial<Environment>) =>
    functionsOf(environmentWith(change)).webs.map(({ name, description }) => [name, description.concurrency]);
  expect(concurrencyOf({})).toEqual([
    ['content', 64],
    ['inference', 8],
  ]);
  expect(concurrencyOf({ inferenceHost: 'web-function' })).toEqual([
    ['content', 64],
    ['inference', 64],
  ]);
});

test('behind API Gateway the files are served by a function that is called with events, with the same grants', () => {
  const { webs, events } = functionsOf(environmentWith({ frontDoor: 'api-gateway' }));
  expect(webs).toEqual([]);
  const content = events.find(({ name }) => name === 'content')?.description;
  const { tables, buckets, secrets } = functions.content;
  expect(content).toMatchObject({ entry: 'lambdas/functions/content.ts', trigger: 'url', timeoutSeconds: 900 });
  expect(content).toMatchObject({ tables, buckets, secrets });
});

const grantsOf = ({
  tables,
  buckets,
  secrets,
}: Pick<FunctionDescription, 'tables' | 'buckets' | 'secrets'>): string[] => [
  ...tables.flatMap(({ table, index, actions }) => actions.map((action) => `${action} ${table} ${index}`)),
  ...buckets.flatMap(({ prefix, actions }) => actions.map((action) => `${action} ${prefix}`)),
  ...secrets,
];

test('OPS-1 what serves all of inference may do what the four may do, each once, and nothing else', () => {
  const served = inferenceFunctionNames.map((name) => functions[name]);
  const expected = new Set(served.flatMap(grantsOf));
  const granted = grantsOf(functions.inference);
  expect(granted).toHaveLength(expected.size);
  expect(new Set(granted)).toEqual(expected);
  expect(functions.inference).toMatchObject({ startsVideos: true, linksMedia: true });
  expect(functions.inference.showsApp).toBeUndefined();
  expect(unionOf([functions.sweep])).toEqual({ tables: expect.any(Array), buckets: expect.any(Array), secrets: [] });
});
