import { createHash, randomBytes } from 'node:crypto';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashApiKey, labelOf, makeApiKey } from '../../../lambdas/core/accounts/api-key.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { type Route, routes } from '../../../lambdas/routes.ts';
import { putKey } from '../../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerStore } from '../../../lambdas/stores/dynamodb/ledger-store.ts';
import { localDynamodbConfig, localTableNames } from '../../../lib/local/create-tables.ts';
import { startTestDynamodb, type TestDynamodb } from '../../support/dynamodb.ts';
import { readPepper } from '../../support/hostile-account.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { type HostileProcess, startHostileProcess } from '../../support/hostile-process.ts';
import { ask } from '../../support/hostile-wire.ts';

let database: TestDynamodb;
let gateway: HostileProcess;
let client: DynamoDBClient;
const keys = new Map<string, string>();

beforeAll(async () => {
  database = await startTestDynamodb();
  gateway = await startHostileProcess({ DYNAMODB_ENDPOINT: database.endpoint });
  client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  keys.set('revoked', await issue('10', ['SET #status = :value', { S: 'revoked' }]));
  keys.set('blocked', await issue('10', ['SET #blocked = :value', { BOOL: true }]));
  keys.set('poor', await issue('0'));
  keys.set('good', await issue('10'));
});
afterAll(async () => {
  client.destroy();
  await gateway.stop();
  await database.stop();
});

type Change = readonly [expression: string, value: { readonly S: string } | { readonly BOOL: boolean }];

/** An account and its key, straight into the tables. */
const issue = async (balanceUsd: string, change?: Change): Promise<string> => {
  const pepper = readPepper(gateway.folder);
  const apiKey = makeApiKey(randomBytes(32));
  const hash = hashApiKey(pepper, apiKey);
  const ledger = createLedgerStore({ once: client, repeating: client }, localTableNames.accounts);
  const accountId = `account-${hash.slice(0, 8)}`;
  await ledger.createAccount(accountId);
  const amountPicos = parseUsd(balanceUsd);
  if (amountPicos > 0n) await ledger.credit({ accountId, ref: 'first', amountPicos, reason: 'test', at: Date.now() });
  const pepperId = createHash('sha256').update(pepper).digest('hex').slice(0, 8);
  await putKey(client, localTableNames.keys, { hash, accountId, label: labelOf(apiKey), pepperId });
  if (change) await changeKey(hash, change);
  return apiKey;
};

const changeKey = async (hash: string, [expression, value]: Change): Promise<void> => {
  const [, name = ''] = /#(\w+)/.exec(expression) ?? [];
  await client.send(
    new UpdateItemCommand({
      ...{ TableName: localTableNames.keys, Key: { pk: { S: hash } }, UpdateExpression: expression },
      ...{ ExpressionAttributeNames: { [`#${name}`]: name }, ExpressionAttributeValues: { ':value': value } },
    }),
  );
};

const wrongChecksum = (key: string): string => `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
const keyOf = (name: string): string => keys.get(name) ?? '';

type Expected = readonly [status: number, code: string];
const missing: Expected = [401, 'missing_api_key'];
const invalid: Expected = [401, 'invalid_api_key'];

interface Row {
  readonly what: string;
  readonly header: () => string | undefined;
  /** Undefined: let through, but for what the account itself is refused. */
  readonly expected: Expected | undefined;
  readonly onBilled?: Expected;
}

const rows: readonly Row[] = [
  { what: 'nothing', header: () => undefined, expected: missing },
  { what: 'an empty header', header: () => '', expected: missing },
  { what: 'an empty token', header: () => 'Bearer ', expected: missing },
  { what: 'the key alone', header: () => keyOf('good'), expected: missing },
  { what: 'another scheme', header: () => `Token ${keyOf('good')}`, expected: missing },
  { what: 'Basic', header: () => `Basic ${Buffer.from(`${keyOf('good')}:`).toString('base64')}`, expected: missing },
  {
    what: 'a wrong prefix',
    header: () => `Bearer ${keyOf('good').replace('sk-service-', 'sk-proj-')}`,
    expected: invalid,
  },
  { what: 'a wrong checksum', header: () => `Bearer ${wrongChecksum(keyOf('good'))}`, expected: invalid },
  { what: 'an unknown key', header: () => `Bearer ${makeApiKey(randomBytes(32))}`, expected: invalid },
  { what: 'a revoked key', header: () => `Bearer ${keyOf('revoked')}`, expected: [401, 'revoked_api_key'] },
  { what: "a blocked account's key", header: () => `Bearer ${keyOf('blocked')}`, expected: [403, 'account_blocked'] },
  {
    what: "an empty account's key",
    header: () => `Bearer ${keyOf('poor')}`,
    expected: undefined,
    onBilled: [402, 'insufficient_balance'],
  },
  { what: 'a good key', header: () => `Bearer ${keyOf('good')}`, expected: undefined },
  { what: 'a good key, its scheme in small letters', header: () => `bearer ${keyOf('good')}`, expected: undefined },
];

const CHAT = '{"model":"gpt-5.4","max_tokens":20,"messages":[{"role":"user","content":"hi"}]}';

const send = (route: Route, header: string | undefined, body = CHAT) =>
  ask(gateway.port, {
    ...{
      method: route.method,
      target: route.path.replace('{id}', 'gpt-5.4'),
      body: route.method === 'POST' ? body : '',
    },
    headers: header === undefined ? [] : [`authorization: ${header}`],
  });

const all: readonly Route[] = Object.values(routes);
const table = all.flatMap((route) => rows.map((row) => [row.what, route.method, route.path, route, row] as const));

test.each(table)('AUTH-1 AUTH-4 %s on %s %s', async (_what, _method, _path, route, row) => {
  const reply = await send(route, row.header());
  judge(reply);
  const expected =
    route.credential === 'none' ? undefined : (row.expected ?? (route.billed ? row.onBilled : undefined));
  expect(reply.status).toBe(expected?.[0] ?? 200);
  if (expected) expect(readError(reply).code).toBe(expected[1]);
});

test.each(rows.filter(({ expected }) => expected))(
  'GEN-8 $what is refused before the body is looked at',
  async (row) => {
    for (const route of all.filter(({ method, credential }) => method === 'POST' && credential !== 'none')) {
      const reply = await send(route, row.header(), '{');
      expect([reply.status, readError(reply).code]).toEqual(row.expected);
    }
  },
);

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
  expect(route.method === 'GET' || route.body !== 'none').toBe(true);
});

test('AUTH-5 a key is refused from the request after its revocation on', async () => {
  const apiKey = await issue('10');
  expect((await send(routes.getAccount, `Bearer ${apiKey}`)).status).toBe(200);
  await changeKey(hashApiKey(readPepper(gateway.folder), apiKey), ['SET #status = :value', { S: 'revoked' }]);
  const replies = await Promise.all(Array.from({ length: 50 }, () => send(routes.getAccount, `Bearer ${apiKey}`)));
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 401));
});

test('AUTH-7 a key shows its own account, whatever other id is sent along', async () => {
  const mine = JSON.parse((await send(routes.getAccount, `Bearer ${keyOf('good')}`)).body);
  const headers = [
    `authorization: Bearer ${keyOf('good')}`,
    'x-account-id: local',
    'openai-organization: local',
    'cookie: account=local',
  ];
  for (const target of ['/api/account?account=local', '/api/account?id=local&accountId=local']) {
    expect(JSON.parse((await ask(gateway.port, { target, headers })).body).id).toBe(mine.id);
  }
  for (const target of ['/api/account/local', '/api/accounts/local', '/api/account/..%2flocal']) {
    expect((await ask(gateway.port, { target, headers })).status).toBe(404);
  }
});
