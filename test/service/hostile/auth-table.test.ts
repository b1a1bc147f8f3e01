import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeApiKey } from '../../../lambdas/core/accounts/api-key.ts';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { startTestDynamodb, type TestDynamodb } from '../../support/dynamodb.ts';
import { type Issuer, openIssuer } from '../../support/hostile-issuer.ts';
import { judge, readError, shapeAt } from '../../support/hostile-oracle.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
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
import { ask } from '../../support/hostile-wire.ts';

let database: TestDynamodb;
let gateway: HostileProcess;
let issuer: Issuer;
const keys = new Map<string, string>();

beforeAll(async () => {
  database = await startTestDynamodb();
  gateway = await startHostileProcess({ DYNAMODB_ENDPOINT: database.endpoint });
  issuer = openIssuer(database.endpoint, gateway.folder);
  keys.set('revoked', await issuer.issue('10'));
  keys.set('blocked', await issuer.issue('10'));
  keys.set('poor', await issuer.issue('0'));
  keys.set('good', await issuer.issue('10'));
  await issuer.revoke(keyOf('revoked'));
  await issuer.block(keyOf('blocked'));
});
afterAll(async () => {
  issuer.close();
  await gateway.stop();
  await database.stop();
});

const wrongChecksum = (key: string): string => `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
const keyOf = (name: string): string => keys.get(name) ?? '';

type Expected = readonly [status: number, code: string];
const missing: Expected = [401, 'missing_api_key'];
const invalid: Expected = [401, 'invalid_api_key'];

interface Row {
  readonly what: string;
  readonly credential: () => string;
  /** Undefined: let through, but for what the account itself is refused. */
  readonly expected: Expected | undefined;
  readonly onBilled?: Expected;
}

/** The same in every place in which a key may stand. */
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

/** How the one header that has schemes can be wrong besides. */
const schemes: readonly (readonly [what: string, header: () => string, expected: Expected | undefined])[] = [
  ['the key alone', () => keyOf('good'), missing],
  ['another scheme', () => `Token ${keyOf('good')}`, missing],
  ['Basic', () => `Basic ${Buffer.from(`${keyOf('good')}:`).toString('base64')}`, missing],
  ['a scheme without a key', () => 'Bearer', missing],
  ['a scheme in small letters', () => `bearer ${keyOf('good')}`, undefined],
];

const send = async (address: Address, headers: readonly string[], query = '', body = goodBodyAt(address)) => {
  const target = withQuery(address.target, query);
  const sent = [...headers, ...goodHeadersAt(address)];
  const reply = await ask(gateway.port, { method: address.method, target, body, headers: sent });
  return { ...reply, shape: shapeAt(target, headers) };
};

/** With what else the route asks of clients that prove themselves like this. */
const sendWith = (address: Address, form: CredentialForm, credential: string, body?: string | Uint8Array) => {
  const { headers, query } = form.carry(credential);
  const isMessages = address.credential === 'messages' || form === credentialForms.xApiKey;
  return send(modelFor(address, form), isMessages ? [...headers, VERSION] : headers, query, body);
};

/** The lists of models have the models of whoever asks, which the name of the header tells (CAT-7). */
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

const guarded = addresses.filter(({ credential }) => credential !== 'none');
const all: readonly Route[] = Object.values(routes);

const table = guarded.flatMap((address) =>
  allForms.flatMap((form) =>
    rows.map((row) => [row.what, form.name, address.method, address.target, address, form, row] as const),
  ),
);

test.each(table)(
  'AUTH-1 AUTH-2 AUTH-3 AUTH-4 %s in %s on %s %s',
  async (_what, _form, _method, _target, address, form, row) => {
    const known = form.kinds.includes(address.credential);
    const own = row.expected ?? (address.billed ? row.onBilled : undefined);
    judged(await sendWith(address, form, row.credential()), known ? own : missing, address.served);
  },
);

test.each(addresses)('AUTH-4 nothing at all on $method $target', async (address) => {
  judged(await send(address, [VERSION]), address.credential === 'none' ? undefined : missing, address.served);
});

const withSchemes = guarded
  .filter(({ credential }) => credential !== 'generate_content')
  .flatMap((address) =>
    schemes.map(
      ([what, header, expected]) => [what, address.method, address.target, address, header, expected] as const,
    ),
  );

test.each(withSchemes)('AUTH-1 AUTH-2 %s on %s %s', async (_what, _method, _target, address, header, expected) => {
  const version = address.credential === 'messages' ? [VERSION] : [];
  judged(await send(address, [`authorization: ${header()}`, ...version]), expected, address.served);
});

const posts = guarded.filter(({ method }) => method === 'POST');
const refused = posts.flatMap((address) =>
  allForms
    .filter(({ kinds }) => kinds.includes(address.credential))
    .map((form) => [address.target, form.name, address, form] as const),
);

test.each(refused)(
  'GEN-8 on %s what %s is refused for is told before the body is looked at',
  async (_t, _f, address, form) => {
    for (const { credential, expected } of rows.filter((row) => row.expected)) {
      judged(await sendWith(address, form, credential(), '{'), expected);
    }
  },
);

const { bearer, xApiKey, xProviderApiKey, xGoogApiKey, query } = credentialForms;

/** Which of two is believed where both are read. */
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

test.each(pairs)(
  'AUTH-2 AUTH-3 %s wins over %s on %s %s',
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

const ofMessages = posts.filter(({ credential }) => credential === 'messages');
const versions: readonly (readonly [headers: readonly string[], param: string | undefined])[] = [
  [['provider-version: 2023-06-01'], undefined],
  [['anthropic-version: 2023-06-01'], undefined],
  [['anthropic-version: 2026-10-21'], undefined],
  [['provider-version: 2023-06-01', 'anthropic-version: 2026-10-21'], undefined],
  [[], 'provider-version'],
  [['provider-version:'], 'provider-version'],
  [['provider-version: 2026-10-21'], 'provider-version'],
  [['provider-version: 2023-06-01, 2023-06-01'], 'provider-version'],
  [['anthropic-version: 2023-01-01'], 'anthropic-version'],
  [['provider-version: 2023-06-01', 'anthropic-version: 2023-01-01'], 'anthropic-version'],
  [['provider-version: 2023-01-01', 'anthropic-version: 2023-06-01'], 'provider-version'],
];

test.each(
  ofMessages.flatMap((address) =>
    versions.map(
      ([headers, param]) => [headers.join(' and ') || 'no version', address.target, address, headers, param] as const,
    ),
  ),
)('AUTH-2 %s on %s', async (_what, _target, address, headers, param) => {
  const reply = await send(address, [`x-api-key: ${keyOf('good')}`, ...headers]);
  judge(reply, 'messages');
  expect(reply.status).toBe(param === undefined ? 200 : 400);
  if (param) expect(readError(reply, 'messages')).toMatchObject({ code: 'invalid_request_error', param });
});

/** AUTH-6. */
const PUBLIC = [
  /^\/health$/,
  /^\/api\/models$/,
  /^\/api\/models\/\{id\}\/fallbacks$/,
  /^\/api-reference/,
  /^\/media/,
  /^\/app(\/(?!api\/).*)?$/,
];
const OWN_CREDENTIAL = [/^\/bot$/, /^\/app\/api\//, /^\/app\/credits$/];

test.each(all)('AUTH-6 $method $path has authentication, limits and a body cap, or is on the list', (route) => {
  const listed = [...PUBLIC, ...OWN_CREDENTIAL].some((pattern) => pattern.test(route.path));
  expect(route.credential !== 'none' || listed).toBe(true);
  expect(route.limited || route.path === '/health').toBe(true);
  expect(route.method !== 'POST' || route.body !== 'none').toBe(true);
});

const account: Address = { ...routes.getAccount, name: 'getAccount', target: routes.getAccount.path, served: 200 };

test('AUTH-5 a key is refused from the request after its revocation on, in whatever place it comes', async () => {
  const apiKey = await issuer.issue('10');
  const asked = guarded.flatMap((address) =>
    allForms.filter(({ kinds }) => kinds.includes(address.credential)).map((form) => ({ address, form })),
  );
  const everywhere = async () => {
    const replies = await Promise.all(asked.map(({ address, form }) => sendWith(address, form, apiKey)));
    return replies.map(({ status }) => status);
  };
  expect(await everywhere()).toEqual(asked.map(({ address }) => address.served));
  await issuer.revoke(apiKey);
  expect(new Set(await everywhere())).toEqual(new Set([401]));
});

test('AUTH-7 a key shows its own account, whatever other id is sent along', async () => {
  const headers = [
    `authorization: Bearer ${keyOf('good')}`,
    'x-account-id: local',
    'openai-organization: local',
    'cookie: account=local',
  ];
  const mine = JSON.parse((await send(account, headers.slice(0, 1))).body);
  for (const target of ['/api/account?account=local', '/api/account?id=local&accountId=local']) {
    expect(JSON.parse((await ask(gateway.port, { target, headers })).body).id).toBe(mine.id);
  }
  for (const target of ['/api/account/local', '/api/accounts/local', '/api/account/..%2flocal']) {
    expect((await ask(gateway.port, { target, headers })).status).toBe(404);
  }
});
