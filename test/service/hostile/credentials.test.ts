import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { type HostileGateway, startHostileGateway } from '../../support/hostile-gateway.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { ask, exchange } from '../../support/hostile-wire.ts';

let gateway: HostileGateway;
let good: string;

beforeAll(async () => {
  gateway = await startHostileGateway({ vendor: undefined });
  good = (await gateway.issue()).apiKey;
});
afterAll(() => gateway.stop());
beforeEach(() => {
  gateway.keyReads.length = 0;
});

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_120);

/** Every byte that HTTP lets stand in a header's value, and of those that are no ASCII mostly the strange ones. */
const headerText = fc.string({
  unit: fc
    .oneof(
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.integer({ min: 0x80, max: 0xff }),
      fc.constantFrom(0x09, 0x22, 0x24, 0x27, 0x7b, 0x5c),
    )
    .map((code) => String.fromCharCode(code)),
  maxLength: 120,
});

const sql = [
  "' OR '1'='1",
  "'; DROP TABLE keys;--",
  '" OR ""="',
  'admin--',
  '1 UNION SELECT pk FROM keys',
  '%27%20OR%201%3D1',
];
const nosql = [
  '{"$gt":""}',
  '{"$ne":null}',
  '[$ne]=1',
  '$where: 1',
  ':active',
  '#status',
  '__proto__',
  'constructor',
  '{jndi:ldap://a}',
  '{{7*7}}',
];
const lengths = [1, 59, 60, 61, 1_000, 15_000];

/** A good key with one thing wrong. */
const nearMiss = (key: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.nat(key.length - 1).map((at) => `${key.slice(0, at)}${key[at] === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`),
    fc.nat(key.length - 1).map((at) => `${key.slice(0, at)}${key.slice(at + 1)}`),
    fc.nat(key.length).map((at) => `${key.slice(0, at)}\xe9${key.slice(at)}`),
    fc.constantFrom(
      key.toUpperCase(),
      key.toLowerCase(),
      `${key}${key}`,
      `${key}\0`.slice(0, -1).concat('='),
      key.slice(11),
      `"${key}"`,
      `${key},${key}`,
    ),
  );

const credentials = (key: string): readonly string[] =>
  fc.sample(
    fc.oneof(
      { weight: 3, arbitrary: nearMiss(key) },
      { weight: 2, arbitrary: headerText },
      { weight: 2, arbitrary: headerText.map((text) => `sk-service-${text}`) },
      { weight: 1, arbitrary: fc.constantFrom(...sql, ...nosql) },
      { weight: 1, arbitrary: fc.constantFrom(...sql, ...nosql).map((text) => `sk-service-${text}`) },
      { weight: 1, arbitrary: fc.constantFrom(...lengths).map((length) => `sk-service-${'A'.repeat(length)}`) },
    ),
    { numRuns: 300, seed: SEED },
  );

const protectedRoutes: readonly Route[] = Object.values(routes).filter(({ credential }) => credential !== 'none');

test('AUTH-5 300 hostile credentials are 401 everywhere, none is looked up, none comes back', async () => {
  const schemes = ['Bearer ', 'bearer ', 'Bearer   ', '', 'Basic ', 'Bearer\t'];
  for (const [index, credential] of credentials(good).entries()) {
    const route = protectedRoutes[index % protectedRoutes.length];
    const header = `authorization: ${schemes[index % 3 === 0 ? index % schemes.length : 0]}${credential}`;
    const target = (route?.path ?? '/').replace('{id}', 'gpt-5.4');
    const reply = await ask(gateway.port, { method: route?.method, target, headers: [header] });
    const told = `seed ${SEED}, credential ${index}: ${JSON.stringify(credential).slice(0, 200)}`;
    judge(reply);
    expect(reply.status, told).toBe(401);
    expect(['missing_api_key', 'invalid_api_key'], told).toContain(readError(reply).code);
    if (credential.length > 8) expect(reply.body, told).not.toContain(credential);
  }
  expect(gateway.keyReads).toEqual([]);
  expect(gateway.crashes).toEqual([]);
});

test.each([
  ['twice', (key: string) => [`authorization: Bearer ${key}`, `authorization: Bearer ${key}`]],
  ['twice, the first empty', (key: string) => ['authorization: Bearer ', `authorization: Bearer ${key}`]],
  ['fifty times', (key: string) => Array.from({ length: 50 }, () => `authorization: Bearer ${key}`)],
  ['beside Basic in one header', (key: string) => [`authorization: Basic eDp5, Bearer ${key}`]],
  ['under a name of its own', (key: string) => [`x-api-key: ${key}`, `api-key: ${key}`, `x-provider-api-key: ${key}`]],
  ['in a cookie', (key: string) => [`cookie: authorization=Bearer ${key}`]],
  ['as a list in one header', (key: string) => [`authorization[]: Bearer ${key}`]],
])('AUTH-1 a good key sent %s is refused without a look-up', async (_, make) => {
  const replies = await exchange(gateway.port, await bytesOf(make(good)));
  expect(replies.map(({ status }) => status === 401 || status === 400)).toEqual([true]);
  for (const reply of replies) judge(reply);
  expect(gateway.keyReads).toEqual([]);
});

const bytesOf = async (headers: readonly string[]): Promise<Buffer> =>
  Buffer.from(['GET /api/account HTTP/1.1', 'host: a', 'connection: close', ...headers, '', ''].join('\r\n'), 'latin1');

test('AUTH-1 a good key in the address is no credential', async () => {
  for (const query of [`key=${good}`, `api_key=${good}`, `authorization=Bearer%20${good}`]) {
    const reply = await ask(gateway.port, { target: `/api/account?${query}` });
    expect([reply.status, readError(reply).code]).toEqual([401, 'missing_api_key']);
  }
  expect(gateway.keyReads).toEqual([]);
});

test('AUTH-5 a well-formed key is looked up once, by its hash alone', async () => {
  expect((await ask(gateway.port, { target: '/api/account', headers: [`authorization: Bearer ${good}`] })).status).toBe(
    200,
  );
  expect(gateway.keyReads).toHaveLength(1);
  expect(gateway.keyReads[0]).toMatch(/^[0-9a-f]{64}$/);
});

test('AUTH-5 malformed keys count against the address', async () => {
  const limited = await startHostileGateway({
    vendor: undefined,
    environment: { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '5' },
  });
  const statuses: number[] = [];
  for (let sent = 0; sent < 8; sent += 1) {
    statuses.push(
      (await ask(limited.port, { target: '/api/account', headers: ['authorization: Bearer sk-service-x'] })).status,
    );
  }
  await limited.stop();
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
});
