import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeApiKey } from '../../../lambdas/core/accounts/keys.ts';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { judge, readError, shapeAt } from '../../support/hostile-oracle.ts';
import {
  type Address,
  addresses,
  allForms,
  CLAUDE,
  type CredentialForm,
  credentialForms,
  GEMINI,
  goodBodyAt,
  goodHeadersAt,
  VERSION,
  withQuery,
} from '../../support/hostile-routes.ts';
import { ask, exchange } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { randomRuns } from '../../support/random-runs.ts';
import { rowsOfTier } from '../../tiers.ts';

let vendor: Simulator;
let gateway: InProcessGateway;
const keys = new Map<string, string>();

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({ now: frozenClock, vendorUrl: vendor.url });
  const holders = { revoked: { revoked: true }, blocked: { blocked: true }, poor: { balanceUsd: '0' }, good: {} };
  for (const [name, holder] of Object.entries(holders)) keys.set(name, (await gateway.issue(holder)).apiKey);
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => {
  gateway.keyReads.length = 0;
});

const guarded = addresses.filter(({ credential }) => credential !== 'none');

const wrongChecksum = (key: string): string => `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
const keyOf = (name: string): string => keys.get(name) ?? '';

type Expected = readonly [status: number, code: string];
const missing: Expected = [401, 'missing_api_key'];
const invalid: Expected = [401, 'invalid_api_key'];

interface Row {
  readonly what: string;
  readonly credential: () => string;
  /** Expected rejection. Undefined if the credential is valid; `onBilled` can still reject its account. */
  readonly expected: Expected | undefined;
  readonly onBilled?: Expected;
}

/** Results of a credential in every place for API keys. */
const rows: readonly Row[] = [
  { what: 'nothing behind its name', credential: () => '', expected: missing },
  { what: 'a blank', credential: () => ' ', expected: missing },
  { what: 'a wrong prefix', credential: () => keyOf('good').replace('sk-service-', 'sk-proj-'), expected: invalid },
  { what: 'a wrong checksum', credential: () => wrongChecksum(keyOf('good')), expected: invalid },
  { what: 'an unknown key', credential: () => makeApiKey(randomBytes(32)), expected: invalid },
  { what: 'a revoked key', credential: () => keyOf('revoked'), expected: [401, 'revoked_api_key'] },
  { what: "a blocked account's key", credential: () => keyOf('blocked'), expected: [403, 'account_blocked'] },
  {
    what: "an empty account's key",
    credential: () => keyOf('poor'),
    expected: undefined,
    onBilled: [402, 'insufficient_balance'],
  },
  { what: 'a good key', credential: () => keyOf('good'), expected: undefined },
];

const send = async (address: Address, headers: readonly string[], query = '', body = goodBodyAt(address)) => {
  const target = withQuery(address.target, query);
  const sent = [...headers, ...goodHeadersAt(address)];
  const reply = await ask(gateway.port, { method: address.method, target, body, headers: sent });
  return { ...reply, shape: shapeAt(target, headers) };
};

/** Sends a credential with the other headers that the route requires from such clients. */
const sendWith = (address: Address, form: CredentialForm, credential: string, body?: string | Uint8Array) => {
  const { headers, query } = form.carry(credential);
  const isMessages = address.credential === 'messages' || form === credentialForms.xApiKey;
  return send(modelFor(address, form), isMessages ? [...headers, VERSION] : headers, query, body);
};

/** The model lists depend on the header of the API key (CAT-7). */
const modelFor = (address: Address, form: CredentialForm): Address => {
  if (address.name !== 'getModel' || form === credentialForms.bearer) return address;
  return { ...address, target: address.target.replace('gpt-5.4', form === credentialForms.xApiKey ? CLAUDE : GEMINI) };
};

const judged = (
  { shape, ...reply }: Awaited<ReturnType<typeof send>>,
  expected: Expected | undefined,
  served: Address['served'] = 200,
): void => {
  judge(reply, shape);
  expect(reply.status).toBe(expected?.[0] ?? served);
  if (expected) expect(readError(reply, shape).code).toBe(expected[1]);
};

const everyRow = guarded.flatMap((address) =>
  allForms.flatMap((form) =>
    rows.map((row) => [row.what, form.name, address.method, address.target, address, form, row] as const),
  ),
);

const table = rowsOfTier(everyRow, ([what, form, , , { credential }]) => `${what} in ${form} for ${credential}`);

test.each(table)(
  'AUTH-1 AUTH-2 AUTH-3 AUTH-4 %s in %s on %s %s',
  async (_what, _form, _method, _target, address, form, row) => {
    const known = form.kinds.includes(address.credential);
    const own = row.expected ?? (address.billed ? row.onBilled : undefined);
    judged(await sendWith(address, form, row.credential()), known ? own : missing, address.served);
  },
);

test.each(addresses)('AUTH-4 a request without a credential gets 401 on a guarded $method $target', async (address) => {
  judged(await send(address, [VERSION]), address.credential === 'none' ? undefined : missing, address.served);
});

/** Authorization headers with another scheme, or without one. */
const schemes: readonly (readonly [what: string, header: () => string, expected: Expected | undefined])[] = [
  ['no scheme', () => keyOf('good'), missing],
  ['another scheme', () => `Token ${keyOf('good')}`, missing],
  ['Basic', () => `Basic ${Buffer.from(`${keyOf('good')}:`).toString('base64')}`, missing],
  ['a scheme alone', () => 'Bearer', missing],
  ['a scheme in lower case', () => `bearer ${keyOf('good')}`, undefined],
];
const withSchemes = guarded
  .filter(({ credential }) => credential !== 'generate_content')
  .flatMap((address) => schemes.map((scheme) => [scheme[0], address.method, address.target, address, scheme] as const));

test.each(rowsOfTier(withSchemes, ([what]) => what))(
  'AUTH-1 AUTH-2 an authorization header with %s on %s %s',
  async (_what, _method, _target, address, [, header, expected]) => {
    const version = address.credential === 'messages' ? [VERSION] : [];
    judged(await send(address, [`authorization: ${header()}`, ...version]), expected, address.served);
  },
);

const { bearer, xApiKey, xProviderApiKey, xGoogApiKey, query } = credentialForms;

/** The credential that takes precedence if a route reads two. */
const ranks: readonly (readonly [kind: Route['credential'], first: CredentialForm, second: CredentialForm])[] = [
  ['messages', xApiKey, bearer],
  ['generate_content', xProviderApiKey, xGoogApiKey],
  ['generate_content', xProviderApiKey, query],
  ['generate_content', xGoogApiKey, query],
  ['any', bearer, xApiKey],
  ['any', bearer, xProviderApiKey],
];
const pairs = ranks.flatMap(([kind, first, second]) =>
  guarded
    .filter(({ credential }) => credential === kind)
    .map((address) => [first.name, second.name, address.method, address.target, address, first, second] as const),
);

test.each(rowsOfTier(pairs, ([one, other]) => `${one} ${other}`))(
  'AUTH-2 AUTH-3 %s takes precedence over %s on %s %s',
  async (_one, _other, _method, _target, address, first, second) => {
    const both = (one: string, other: string) => {
      const [a, b] = [first.carry(one), second.carry(other)];
      const version = second === xApiKey || address.credential === 'messages' ? [VERSION] : [];
      const headers = [...a.headers, ...b.headers, ...version];
      return send(modelFor(address, second), headers, `${a.query}${b.query}`);
    };
    judged(await both(keyOf('good'), keyOf('revoked')), undefined);
    judged(await both(keyOf('revoked'), keyOf('good')), [401, 'revoked_api_key']);
  },
);

const versions: readonly (readonly [headers: readonly string[], param: string | undefined])[] = [
  [['provider-version: 2023-06-01'], undefined],
  [['anthropic-version: 2023-06-01'], undefined],
  [['anthropic-version: 2026-10-21'], undefined],
  [['provider-version: 2023-06-01', 'anthropic-version: 2026-10-21'], undefined],
  [[], 'anthropic-version'],
  [['provider-version:'], 'provider-version'],
  [['provider-version: 2026-10-21'], 'provider-version'],
  [['provider-version: 2023-06-01, 2023-06-01'], 'provider-version'],
  [['anthropic-version: 2023-01-01'], 'anthropic-version'],
  [['provider-version: 2023-06-01', 'anthropic-version: 2023-01-01'], 'anthropic-version'],
  [['provider-version: 2023-01-01', 'anthropic-version: 2023-06-01'], 'provider-version'],
];

test.each(versions)('AUTH-2 messages with the headers %j: the field in the error is %s', async (headers, param) => {
  const address = addresses.find(({ name }) => name === 'countMessageTokens');
  if (!address) throw new Error('no route counts the tokens of messages');
  const reply = await send(address, [`x-api-key: ${keyOf('good')}`, ...headers]);
  judge(reply, 'messages');
  expect(reply.status).toBe(param === undefined ? 200 : 400);
  if (param) expect(readError(reply, 'messages')).toMatchObject({ code: 'invalid_request_error', param });
});

/** AUTH-6: routes without a credential. */
const PUBLIC = [
  /^\/health$/,
  /^\/api\/models$/,
  /^\/api\/models\/\{id\}\/fallbacks$/,
  /^\/api-reference/,
  /^\/llms\.txt$/,
  /^\/media/,
  /^\/app(\/(?!api\/).*)?$/,
];
const OWN_CREDENTIAL = [/^\/bot$/, /^\/app\/api\//, /^\/app\/credits$/];

test.each<Route>(Object.values(routes))(
  'AUTH-6 $method $path is authenticated, limited and capped, or is listed as public',
  (route) => {
    const listed = [...PUBLIC, ...OWN_CREDENTIAL].some((pattern) => pattern.test(route.path));
    expect(route.credential !== 'none' || listed).toBe(true);
    expect(route.limited || route.path === '/health').toBe(true);
    expect(route.method !== 'POST' || route.body !== 'none').toBe(true);
  },
);

const account: Address = { ...routes.getAccount, name: 'getAccount', target: routes.getAccount.path, served: 200 };

test('AUTH-7 an API key shows its own account, whatever other id the request names', async () => {
  const headers = [
    `authorization: Bearer ${keyOf('good')}`,
    ...['x-account-id: local', 'openai-organization: local', 'cookie: account=local'],
  ];
  const mine = JSON.parse((await send(account, headers.slice(0, 1))).body);
  for (const query of ['account=local', 'id=local&accountId=local']) {
    expect(JSON.parse((await send(account, headers, query)).body).id).toBe(mine.id);
  }
  for (const target of ['/api/account/local', '/api/accounts/local', '/api/account/..%2flocal']) {
    expect((await ask(gateway.port, { target, headers })).status).toBe(404);
  }
});

const runs = randomRuns(import.meta.filename, { quick: 300, long: 1_200 });

/** Bytes that HTTP allows in a header value, mostly unusual ones outside ASCII. */
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

/** Valid API keys with one mistake. */
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
    runs,
  );

/** Every place and scheme of a credential, on every route. */
const ways = guarded.flatMap((address) => [
  ...['Bearer ', 'bearer ', 'Bearer   ', '', 'Basic ', 'Bearer\t'].map((scheme) => ({
    address,
    name: 'authorization',
    scheme,
  })),
  ...['x-api-key', 'x-provider-api-key', 'x-goog-api-key', '?key='].map((name) => ({ address, name, scheme: '' })),
]);

test('AUTH-5 hostile credentials get 401 in every place, without lookup or quote', async () => {
  const good = keyOf('good');
  for (const [index, credential] of credentials(good).entries()) {
    // 4 and the number of ways have no common divisor, so each way gets every kind of credential.
    for (const way of [0, 1].map((more) => ways[(index * 2 + more) % ways.length])) {
      if (!way) throw new Error('no way to send a credential');
      const { address, name, scheme } = way;
      const [headers, query] =
        name === '?key=' ? [[], `key=${encodeURIComponent(credential)}`] : [[`${name}: ${scheme}${credential}`], ''];
      const reply = await send(address, [...headers, VERSION], query);
      const sent = `${JSON.stringify(credential).slice(0, 200)} in ${name} at ${address.target}`;
      judge(reply, reply.shape);
      expect(reply.status, sent).toBe(401);
      expect(['missing_api_key', 'invalid_api_key'], sent).toContain(readError(reply, reply.shape).code);
      if (credential.length > 8) expect(reply.body, sent).not.toContain(credential);
    }
  }
  expect(gateway.keyReads).toEqual([]);
  expect(gateway.crashes).toEqual([]);
  expect(gateway.log.some((line) => line.includes('sk-service-'))).toBe(false);
});

const message = '/v1/messages/count_tokens';
const content = `/v1beta/models/${GEMINI}`;
const under = (key: string, ...names: readonly string[]) => names.map((name) => `${name}: ${key}`);

test.each<readonly [what: string, target: string, headers: (key: string) => readonly string[]]>([
  ['twice', account.target, (key) => under(`Bearer ${key}`, 'authorization', 'authorization')],
  ['twice, the first empty', account.target, (key) => ['authorization: Bearer ', `authorization: Bearer ${key}`]],
  ['with Basic in one header', account.target, (key) => [`authorization: Basic eDp5, Bearer ${key}`]],
  ['under other names', account.target, (key) => under(key, 'x-api-key', 'api-key', 'x-provider-api-key')],
  ['in a cookie', account.target, (key) => [`cookie: authorization=Bearer ${key}`]],
  ['twice', message, (key) => under(key, 'x-api-key', 'x-api-key')],
  ['with a scheme', message, (key) => [`x-api-key: Bearer ${key}`]],
  ['in quotes', message, (key) => [`x-api-key: "${key}"`]],
  ['under other names', message, (key) => under(key, 'x-goog-api-key', 'x-provider-api-key', 'api-key')],
  ['twice', content, (key) => under(key, 'x-goog-api-key', 'x-goog-api-key')],
  ['with a scheme', content, (key) => [`x-provider-api-key: Bearer ${key}`]],
  ['under other names', content, (key) => [`authorization: Basic ${key}`, ...under(key, 'x-api-key', 'key')]],
])('AUTH-1 AUTH-2 AUTH-3 a valid key sent %s to %s is rejected without a lookup', async (_, target, make) => {
  const request = { method: target === message ? 'POST' : 'GET', target, headers: [VERSION, ...make(keyOf('good'))] };
  const replies = await exchange(gateway.port, request);
  expect(replies.map(({ status }) => status === 401 || status === 400)).toEqual([true]);
  for (const reply of replies) judge(reply, shapeAt(target));
  expect(gateway.keyReads).toEqual([]);
});

test.each(rowsOfTier(guarded, ({ credential, method }) => `${credential} ${method}`))(
  'AUTH-1 AUTH-2 AUTH-3 $method $target rejects a valid key under another query name',
  async (address) => {
    const key = keyOf('good');
    const names = ['api_key', 'x-api-key', 'x-goog-api-key', 'access_token', 'KEY', 'key[]'];
    const twice = address.credential === 'generate_content' ? `key=${key}&key=${key}` : `key=${key}`;
    const queries = [...names.map((name) => `${name}=${key}`), `authorization=Bearer%20${key}`, twice];
    for (const query of queries) {
      const reply = await ask(gateway.port, {
        ...{ method: address.method, target: withQuery(address.target, query), body: goodBodyAt(address) },
      });
      judge(reply, shapeAt(address.target));
      expect(reply.status, query).toBe(401);
      expect(reply.body).not.toContain(key);
    }
    expect(gateway.keyReads).toEqual([]);
  },
);

test('AUTH-5 a well-formed key is looked up once, by its hash only', async () => {
  expect((await send(account, [`authorization: Bearer ${keyOf('good')}`])).status).toBe(200);
  expect(gateway.keyReads).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

test('AUTH-5 LIM-1 malformed keys count against the client IP', async () => {
  const environment = { LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '5' };
  const limited = await startInProcess({ now: frozenClock, vendorUrl: undefined, environment });
  const request = { target: '/api/account', headers: ['authorization: Bearer sk-service-x'] };
  const statuses: number[] = [];
  for (let sent = 0; sent < 8; sent += 1) statuses.push((await ask(limited.port, request)).status);
  await limited.stop();
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
});
