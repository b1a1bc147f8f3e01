import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type HostileGateway, startHostileGateway } from '../../support/hostile-gateway.ts';
import { judge, readError, shapeAt } from '../../support/hostile-oracle.ts';
import {
  type Address,
  addresses,
  GEMINI,
  goodBodyAt,
  goodHeadersAt,
  VERSION,
  withQuery,
} from '../../support/hostile-routes.ts';
import { ask, exchange, type WireRequest } from '../../support/hostile-wire.ts';

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

/** One way for a credential to come to a route. */
interface Way {
  readonly what: string;
  readonly address: Address;
  toRequest(credential: string): WireRequest;
}

const schemes = ['Bearer ', 'bearer ', 'Bearer   ', '', 'Basic ', 'Bearer\t'];

const inHeader = (address: Address, name: string, scheme = ''): Way => ({
  what: `${name}: ${scheme} at ${address.target}`,
  address,
  toRequest: (credential) => ({
    ...{ method: address.method, target: address.target, body: goodBodyAt(address) },
    headers: [`${name}: ${scheme}${credential}`, VERSION, ...goodHeadersAt(address)],
  }),
});

const inQuery = (address: Address, encode: (text: string) => string): Way => ({
  what: `?key= at ${address.target}`,
  address,
  toRequest: (credential) => ({
    ...{ method: address.method, body: goodBodyAt(address) },
    target: withQuery(address.target, `key=${encode(credential)}`),
  }),
});

/** Every byte of it, as long as the head of a request has room for that. */
const percent = (text: string): string => (text.length > 4_000 ? encodeURIComponent(text) : percentOf(text));

const percentOf = (text: string): string =>
  [...Buffer.from(text, 'latin1')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

const waysTo = (address: Address): readonly Way[] => [
  ...schemes.map((scheme) => inHeader(address, 'authorization', scheme)),
  ...['x-api-key', 'x-provider-api-key', 'x-goog-api-key', 'X-Goog-Api-Key'].map((name) => inHeader(address, name)),
  ...[inQuery(address, encodeURIComponent), inQuery(address, percent)],
];

const guarded = addresses.filter(({ credential }) => credential !== 'none');
const ways = guarded.flatMap(waysTo);

test('AUTH-5 300 hostile credentials are 401 everywhere and in every place, none is looked up, none comes back', async () => {
  for (const [index, credential] of credentials(good).entries()) {
    // A step that shares no factor with their number, so that each of them meets every kind of credential.
    for (const way of [0, 1, 2, 3].map((more) => ways[(index * 4 + more) % ways.length])) {
      if (!way) throw new Error('no way to send a credential');
      const request = way.toRequest(credential);
      const reply = await ask(gateway.port, request);
      const told = `seed ${SEED}, credential ${index}, ${way.what}: ${JSON.stringify(credential).slice(0, 200)}`;
      const shape = shapeAt(way.address.target, request.headers);
      judge(reply, shape);
      expect(reply.status, told).toBe(401);
      expect(['missing_api_key', 'invalid_api_key'], told).toContain(readError(reply, shape).code);
      if (credential.length > 8) expect(reply.body, told).not.toContain(credential);
    }
  }
  expect(gateway.keyReads).toEqual([]);
  expect(gateway.crashes).toEqual([]);
  expect(gateway.log.some((line) => line.includes('sk-service-'))).toBe(false);
});

const twice = (line: string): readonly string[] => [line, line];
const account = '/api/account';
const message = '/v1/messages/count_tokens';
const content = `/v1beta/models/${GEMINI}`;

test.each<readonly [what: string, target: string, headers: (key: string) => readonly string[]]>([
  ['twice', account, (key) => twice(`authorization: Bearer ${key}`)],
  ['twice, the first empty', account, (key) => ['authorization: Bearer ', `authorization: Bearer ${key}`]],
  ['fifty times', account, (key) => Array.from({ length: 50 }, () => `authorization: Bearer ${key}`)],
  ['beside Basic in one header', account, (key) => [`authorization: Basic eDp5, Bearer ${key}`]],
  [
    'under other names',
    account,
    (key) => ['x-api-key', 'api-key', 'x-provider-api-key'].map((name) => `${name}: ${key}`),
  ],
  ['in a cookie', account, (key) => [`cookie: authorization=Bearer ${key}`]],
  ['as a list in one header', account, (key) => [`authorization[]: Bearer ${key}`]],
  ['twice', message, (key) => twice(`x-api-key: ${key}`)],
  ['with a scheme', message, (key) => [`x-api-key: Bearer ${key}`]],
  ['in quotes', message, (key) => [`x-api-key: "${key}"`]],
  [
    'under other names',
    message,
    (key) => ['x-goog-api-key', 'x-provider-api-key', 'api-key'].map((name) => `${name}: ${key}`),
  ],
  ['twice', content, (key) => twice(`x-goog-api-key: ${key}`)],
  ['with a scheme', content, (key) => [`x-provider-api-key: Bearer ${key}`]],
  ['under other names', content, (key) => [`authorization: Bearer ${key}`, `x-api-key: ${key}`, `key: ${key}`]],
  ['in a cookie', content, (key) => [`cookie: key=${key}`]],
])('AUTH-1 AUTH-2 AUTH-3 a good key sent %s to %s is refused without a look-up', async (_, target, make) => {
  const method = target === message ? 'POST' : 'GET';
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: a',
    'connection: close',
    'content-length: 0',
    VERSION,
    ...make(good),
  ];
  const replies = await exchange(gateway.port, Buffer.from([...lines, '', ''].join('\r\n'), 'latin1'));
  expect(replies.map(({ status }) => status === 401 || status === 400)).toEqual([true]);
  for (const reply of replies) judge(reply, shapeAt(target));
  expect(gateway.keyReads).toEqual([]);
});

test.each(guarded)(
  'AUTH-1 AUTH-2 AUTH-3 a good key in the address of $method $target is read as its kind of route says',
  async (address) => {
    const names = ['api_key', 'authorization', 'x-api-key', 'x-goog-api-key', 'access_token', 'KEY', 'key[]'];
    const others = names.map(
      (name) => `${name}=${encodeURIComponent(name === 'authorization' ? `Bearer ${good}` : good)}`,
    );
    const reads = address.credential === 'generate_content';
    for (const query of [...others, ...(reads ? [`key=${good}&key=${good}`] : [`key=${good}`])]) {
      const request = { method: address.method, target: withQuery(address.target, query), body: goodBodyAt(address) };
      const reply = await ask(gateway.port, request);
      judge(reply, shapeAt(address.target));
      expect(reply.status, query).toBe(401);
      expect(reply.body).not.toContain(good);
    }
    expect(gateway.keyReads).toEqual([]);
  },
);

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
