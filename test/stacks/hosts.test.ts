import { expect, test } from 'vitest';
import { BODIES_AT_ONCE } from '../../lambdas/limits.ts';
import { functionsOf } from '../../lib/environment-schema.ts';
import type { Environment } from '../../lib/environments.ts';
import { environments, parseEnvironment } from '../../lib/environments.ts';
import type { FunctionDescription } from '../../lib/function-description.ts';
import { unionOf } from '../../lib/function-grants.ts';
import { functions } from '../../lib/functions.ts';
import { GatewayStage } from '../../lib/gateway-stage.ts';
import { inferenceFunctionNames } from '../../lib/inference-functions.ts';
import { newApp, synthesize } from './synthesize.ts';

const environmentWith = (change: Partial<Environment>): Environment =>
  parseEnvironment({ ...environments.dev, ...change });

const described = (api: GatewayStage['api']) => ({
  api,
  webs: [...api.webFunctions.keys()],
  hosts: Object.fromEntries([...api.hosts].map(([name, host]) => [name, JSON.stringify(api.resolve(host))])),
});

const onAllDoors = described(synthesize('prod').gateway.api);
const withoutLargeBodies = described(synthesize('prod', 'cloudfront with a domain').gateway.api);
const servedByWeb = described(synthesize('prod', 'cloudfront with a certificate').gateway.api);
const rest = described(synthesize('prod', 'api-gateway').gateway.api);
const plainWith = (change: Partial<Environment>) =>
  described(
    new GatewayStage(newApp(), 'dev', environmentWith({ frontDoor: 'none', largeBodies: 'off', ...change })).api,
  );
const plain = plainWith({});
const plainWeb = plainWith({ inferenceHost: 'web-function' });

const always = ['catalog', 'account', 'bot', 'app', 'content'];
const both = ['content', 'inference'];
const all = [...always, ...inferenceFunctionNames, 'inference'];

test.each([
  ['CloudFront', onAllDoors, both, all],
  ['CloudFront without large bodies', withoutLargeBodies, both, all],
  ['no front door', plain, ['content'], [...always, ...inferenceFunctionNames]],
  ['no front door and inference in a Web Function', plainWeb, both, all],
  ['API Gateway', rest, [], []],
] as const)('GEN-1 %s has the expected Web Functions and URLs', (_, { webs, hosts }, webNames, hostNames) => {
  expect(webs).toEqual(webNames);
  expect(Object.keys(hosts).sort()).toEqual([...hostNames].sort());
});

test('GEN-1 a Web Function that serves all inference gets exactly its routes', () => {
  const { api, hosts } = plainWeb;
  for (const name of inferenceFunctionNames) {
    expect(hosts[name]).toBe(hosts.inference);
    // Clients that still use the function's own URL are served.
    expect(api.lambdas.has(name)).toBe(true);
  }
  const others = always.map((name) => hosts[name]);
  expect(others).not.toContain(undefined);
  expect(others).not.toContain(hosts.inference);
  expect(new Set(Object.values(plain.hosts)).size).toBe(Object.values(plain.hosts).length);
});

test('OPS-1 the outputs that the edge reads are the same for every host of inference', () => {
  const [first, ...others] = [onAllDoors, withoutLargeBodies, servedByWeb].map(({ api }) =>
    api.node.children.map(({ node }) => node.id).filter((id) => id.endsWith('HostName')),
  );
  expect(first).toHaveLength(all.length);
  for (const each of others) expect(each.sort()).toEqual(first?.toSorted());
});

test('GEN-14 a Web Function for all inference takes more requests than one for large bodies', () => {
  const concurrencyOf = (change: Partial<Environment>) =>
    functionsOf(environmentWith(change)).webs.map(({ name, description }) => [name, description.concurrency]);
  expect(concurrencyOf({})).toEqual([
    ['content', 64],
    ['inference', BODIES_AT_ONCE],
  ]);
  expect(concurrencyOf({ inferenceHost: 'web-function' })).toEqual([
    ['content', 64],
    ['inference', 64],
  ]);
});

test('`content` behind API Gateway is called with events and has the same grants', () => {
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

test('OPS-1 `inference` has the grants of the four functions that it serves, each once', () => {
  const served = inferenceFunctionNames.map((name) => functions[name]);
  const expected = new Set(served.flatMap(grantsOf));
  const granted = grantsOf(functions.inference);
  expect(granted).toHaveLength(expected.size);
  expect(new Set(granted)).toEqual(expected);
  expect(functions.inference).toMatchObject({ startsVideos: true, linksMedia: true });
  expect(functions.inference.showsApp).toBeUndefined();
  expect(unionOf([functions.sweep])).toEqual({ tables: expect.any(Array), buckets: expect.any(Array), secrets: [] });
});
