import { sign } from '@telegram-apps/init-data-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { frozenClock, type InProcessGateway, startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';

const MODEL = 'gpt-5.4';
const BOT_TOKEN = '123456:token-of-the-key-tests';
const PAST = new Date(TEST_DAY - 1_000).toISOString();
/** Name of a key of another account, which no response may contain. */
const FOREIGN_NAME = 'Name of a foreign key';

/** One of the two ways to manage keys (KEY-8), each with an account of its own. */
interface Face {
  readonly name: string;
  readonly path: '/api/keys' | '/app/api/keys';
  readonly accountId: string;
  readonly authorization: string;
}

let vendor: Simulator;
let gateway: InProcessGateway;
let faces: Readonly<Record<Face['path'], Face>>;
/** Credential of the other account. */
let foreignAuthorization: string;
let foreign: { readonly id: string; readonly key: string };

beforeAll(async () => {
  vendor = await startSimulator();
  const environment = { BOT_TOKEN, BOT_API_URL: 'http://127.0.0.1:9' };
  gateway = await startInProcess({ vendorUrl: vendor.url, environment, now: frozenClock });
  const [own, app, other] = [await gateway.issue(), await gateway.issue({ chatId: '4711' }), await gateway.issue()];
  const initData = sign({ user: { id: 4_711, first_name: 'Ada' } }, BOT_TOKEN, new Date(TEST_DAY));
  const bearer = (apiKey: string) => `Bearer ${apiKey}`;
  faces = {
    '/api/keys': { name: 'API', path: '/api/keys', accountId: own.accountId, authorization: bearer(own.apiKey) },
    '/app/api/keys': {
      ...{ name: 'mini app', path: '/app/api/keys', accountId: app.accountId, authorization: `tma ${initData}` },
    },
  };
  foreignAuthorization = bearer(other.apiKey);
  const made = await ask(foreignAuthorization, 'POST', '/api/keys', { name: FOREIGN_NAME, limit_usd: '3' });
  foreign = { id: String(made.body.id), key: String(made.body.key) };
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

const ask = async (
  authorization: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (authorization !== foreignAuthorization) expect(text).not.toContain(FOREIGN_NAME);
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the members.
  return { status: response.status, etag: response.headers.get('etag'), body: JSON.parse(text) as any };
};

const errorOf = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [status, body.error.code, body.error.param];
const BAD = (param: string) => [400, 'invalid_request_error', param];
const MISSING = [404, 'not_found', null];

/** Checks that `work` changes neither the keys nor the money of the account, and calls no provider. */
const changingNothing = async ({ path, accountId, authorization }: Face, work: () => Promise<void>) => {
  const state = async () => ({
    keys: (await ask(authorization, 'GET', path)).body,
    account: await gateway.ledger.readAccount(accountId),
    calls: vendor.requests.length,
    records: await gateway.recordsOf(accountId),
  });
  const before = await state();
  await work();
  // A request with an API key is its last use.
  const withoutUse = (value: unknown) =>
    JSON.stringify(value, (name, part) =>
      name === 'last_used_at'
        ? undefined
        : typeof part === 'bigint'
          ? `${part}`
          : part instanceof Map
            ? [...part]
            : part,
    );
  expect(withoutUse(await state())).toBe(withoutUse(before));
};

const paths = ['/api/keys', '/app/api/keys'] as const;

const wrongBodies: readonly (readonly [what: string, param: string, body: object])[] = [
  ['a number', 'name', { name: 5 }],
  ['an empty text', 'name', { name: ' ' }],
  ['65 characters', 'name', { name: 'x'.repeat(65) }],
  ['a control character', 'name', { name: 'a\u0000b' }],
  ['a number', 'limit_usd', { limit_usd: 5 }],
  ['0', 'limit_usd', { limit_usd: '0' }],
  ['an amount below 0', 'limit_usd', { limit_usd: '-1' }],
  ['a fraction of a pico-USD', 'limit_usd', { limit_usd: '0.0000000000001' }],
  ['an amount above 1,000,000', 'limit_usd', { limit_usd: '1000001' }],
  ['another form', 'limit_usd', { limit_usd: '1e3' }],
  ['an unknown period', 'limit_period', { limit_usd: '1', limit_period: 'week' }],
  ['an array', 'limit_period', { limit_usd: '1', limit_period: ['day'] }],
  ['a time in the past', 'expires_at', { expires_at: PAST }],
  ['a day', 'expires_at', { expires_at: '2030-01-01' }],
  ['a number', 'expires_at', { expires_at: 4_102_444_800 }],
  ['a text', 'models', { models: MODEL }],
  ['an empty list', 'models', { models: [] }],
  ['a number', 'models[0]', { models: [5] }],
  ['an unknown model', 'models[1]', { models: [MODEL, 'gpt-0'] }],
  ['a text', 'requests_per_second', { requests_per_second: '1' }],
  ['0', 'requests_per_second', { requests_per_second: 0 }],
  ['two decimals', 'requests_per_second', { requests_per_second: 0.25 }],
  ['a rate above that of every key', 'requests_per_second', { requests_per_second: 1_000_001 }],
  ['a text', 'rights', { rights: 'manage' }],
  ['an unknown right', 'rights[0]', { rights: ['admin'] }],
  ['a right with a cap', 'rights', { rights: ['manage'], limit_usd: '1' }],
  ['an unknown field', 'key', { key: 'sk-service-mine' }],
];

test.each(paths)('KEY-8 a wrong field is 400 at POST and PATCH of %s, by its name', async (path) => {
  const face = faces[path];
  const { authorization } = face;
  const made = await ask(authorization, 'POST', path, { name: 'Edited' });
  await changingNothing(face, async () => {
    for (const [what, param, body] of wrongBodies) {
      const posted = await ask(authorization, 'POST', path, { name: 'New', ...body });
      expect([what, ...errorOf(posted)]).toEqual([what, ...BAD(param)]);
      const patched = await ask(authorization, 'PATCH', `${path}/${made.body.id}`, body);
      expect([what, ...errorOf(patched)]).toEqual([what, ...BAD(param)]);
    }
    for (const body of [[], 'text', 5, null]) {
      expect((await ask(authorization, 'POST', path, body)).status).toBe(400);
      expect((await ask(authorization, 'PATCH', `${path}/${made.body.id}`, body)).status).toBe(400);
    }
    expect(errorOf(await ask(authorization, 'POST', path, {}))).toEqual(BAD('name'));
    expect((await ask(authorization, 'PATCH', `${path}/${made.body.id}`, {})).status).toBe(400);
  });
});

test.each(paths)('KEY-8 unknown and foreign ids are 404 at %s, and nothing changes', async (path) => {
  const face = faces[path];
  const { authorization } = face;
  await changingNothing(face, async () => {
    for (const id of [foreign.id, '0123456789abcdef', 'x', '__proto__', 'constructor', '%00', '..%2F..', foreign.key]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const reply = await ask(authorization, method, `${path}/${id}`, method === 'PATCH' ? { name: 'B' } : undefined);
        expect([id, method, ...errorOf(reply)]).toEqual([id, method, ...MISSING]);
      }
    }
  });
  expect((await ask(`Bearer ${foreign.key}`, 'GET', '/api/account')).status).toBe(200);
});

test.each(paths)('KEY-8 of two racing changes of one version at %s, one is 409 and changes nothing', async (path) => {
  const { authorization } = faces[path];
  const made = await ask(authorization, 'POST', path, { name: 'Raced', limit_usd: '5' });
  const target = `${path}/${made.body.id}`;
  const { etag } = await ask(authorization, 'GET', target);
  const edit = (limit_usd: string) => ask(authorization, 'PATCH', target, { limit_usd }, { 'if-match': String(etag) });
  const both = await Promise.all([edit('6'), edit('7')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [lost] = both.filter(({ status }) => status === 409);
  expect(lost && errorOf(lost)).toEqual([409, 'key_changed', 'if-match']);
  const [won] = both.filter(({ status }) => status === 200);
  const now = await ask(authorization, 'GET', target);
  expect([now.body.limit_usd, now.body.version, now.etag]).toEqual([won?.body.limit_usd, won?.body.version, won?.etag]);
  expect(errorOf(await ask(authorization, 'DELETE', target, undefined, { 'if-match': String(etag) }))).toEqual([
    ...[409, 'key_changed', 'if-match'],
  ]);
  expect(errorOf(await ask(authorization, 'PATCH', target, { name: 'B' }, { 'if-match': 'one' }))).toEqual(
    BAD('if-match'),
  );
  expect((await ask(authorization, 'DELETE', target, undefined, { 'if-match': String(now.etag) })).status).toBe(200);
  expect(errorOf(await edit('8'))).toEqual(MISSING);
});

test.each(paths)('KEY-8, KEY-9 a cap below what is spent and held is 400 at %s, also by 1 pico-USD', async (path) => {
  const face = faces[path];
  const { authorization } = face;
  const made = await ask(authorization, 'POST', path, { name: 'Spent', limit_usd: '1' });
  const body = { model: MODEL, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] };
  expect((await ask(`Bearer ${made.body.key}`, 'POST', '/v1/chat/completions', body)).status).toBe(200);
  const target = `${path}/${made.body.id}`;
  const gate = vendor.gate();
  const running = ask(`Bearer ${made.body.key}`, 'POST', '/v1/chat/completions', body);
  await gate.waitFor(1);
  const { body: view } = await ask(authorization, 'GET', target);
  expect([Number(view.spent_usd) > 0, Number(view.held_usd) > 0]).toEqual([true, true]);
  const picosOf = (usd: string) => BigInt(Math.round(Number(usd) * 1e12));
  const used = picosOf(view.spent_usd) + picosOf(view.held_usd);
  const usd = (picos: bigint) => `0.${String(picos).padStart(12, '0')}`;
  await changingNothing(face, async () => {
    expect(errorOf(await ask(authorization, 'PATCH', target, { limit_usd: usd(used - 1n) }))).toEqual(BAD('limit_usd'));
  });
  expect((await ask(authorization, 'PATCH', target, { limit_usd: usd(used) })).body).toMatchObject({
    limit_period: 'total',
  });
  expect(errorOf(await ask(authorization, 'PATCH', target, { limit_period: null }))).toEqual(BAD('limit_period'));
  gate.open();
  expect((await running).status).toBe(200);
});

test.each(paths)('KEY-8 the 51st key is 400 at %s, also if ten are created together', async (path) => {
  const face = faces[path];
  const { authorization } = face;
  const count = async (): Promise<number> => (await ask(authorization, 'GET', path)).body.data.length;
  while ((await count()) < 45) await ask(authorization, 'POST', path, { name: 'Many' });
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => (await ask(authorization, 'POST', path, { name: 'Last' })).status),
  );
  // A creation that loses ten races is 503 and can be sent again.
  const made = statuses.filter((status) => status === 200).length;
  expect(statuses.filter((status) => ![200, 400, 503].includes(status))).toEqual([]);
  expect(await count()).toBe(45 + made);
  while ((await count()) < 50) expect((await ask(authorization, 'POST', path, { name: 'Last' })).status).toBe(200);
  await changingNothing(face, async () => {
    const refused = await ask(authorization, 'POST', path, { name: 'One too many', limit_usd: '1' });
    expect(errorOf(refused)).toEqual([400, 'invalid_request_error', null]);
    expect(refused.body.error.message).toBe('This account has 50 API keys, which is the limit. Delete one first.');
  });
});

const wrongReads: readonly (readonly [what: string, path: string, param: string])[] = [
  ['an unknown group', '/api/usage/summary?group_by=name', 'group_by'],
  ['an empty group', '/api/usage/summary?group_by=key,', 'group_by'],
  ['a time', '/api/usage/summary?from=2026-11-20T00:00:00Z', 'from'],
  ['a day that does not exist', '/api/usage/summary?to=2026-02-30', 'to'],
  ['a range of 93 days', '/api/usage/summary?from=2026-08-20&to=2026-11-20', 'from'],
  ['a reversed range', '/api/usage/summary?from=2026-11-20&to=2026-11-19', 'to'],
  ['an unknown format', '/api/usage/summary?format=xml', 'format'],
  ['an unknown parameter', '/api/usage/summary?account=other', 'account'],
];

test.each(wrongReads)('BILL-23 %s is 400 in the summary of the API and of the mini app', async (_what, path, param) => {
  for (const face of Object.values(faces)) {
    const own = face.path === '/api/keys' ? path : path.replace('/api/', '/app/api/');
    await changingNothing(face, async () => {
      expect(errorOf(await ask(face.authorization, 'GET', own))).toEqual(BAD(param));
    });
  }
});

test('BILL-23 a summary by key has the names of the own keys only', async () => {
  const { authorization } = faces['/api/keys'];
  await ask(`Bearer ${foreign.key}`, 'POST', '/v1/chat/completions', {
    ...{ model: MODEL, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] },
  });
  const { status, body } = await ask(authorization, 'GET', '/api/usage/summary?group_by=key');
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain(foreign.id);
});

const wrongWebhooks: readonly (readonly [
  what: string,
  method: string,
  path: string,
  body: unknown,
  error: readonly unknown[],
])[] = [
  ['no version', 'POST', '/api/webhooks/secret/rotate', {}, BAD('version')],
  ['a text', 'POST', '/api/webhooks/secret/rotate', { version: '1' }, BAD('version')],
  ['0', 'POST', '/api/webhooks/secret/rotate', { version: 0 }, BAD('version')],
  ['a fraction', 'POST', '/api/webhooks/secret/rotate', { version: 1.5 }, BAD('version')],
  ['an unknown field', 'POST', '/api/webhooks/secret/rotate', { version: 1, secret: 'mine' }, BAD('secret')],
  ['no URL', 'POST', '/api/webhooks/test', {}, BAD('url')],
  ['a number', 'POST', '/api/webhooks/test', { url: 5 }, BAD('url')],
  ['another scheme', 'POST', '/api/webhooks/test', { url: 'ftp://example.com' }, BAD('url')],
  ['a private address', 'POST', '/api/webhooks/test', { url: 'http://169.254.169.254/latest' }, BAD('url')],
  ['an unknown field', 'POST', '/api/webhooks/test', { url: 'https://example.com', secret: 'mine' }, BAD('secret')],
  ['an unknown path', 'GET', '/api/webhooks', undefined, MISSING],
  ['another method', 'DELETE', '/api/webhooks/secret', undefined, [405, 'method_not_allowed', null]],
];

test.each(wrongWebhooks)('HOOK-2, HOOK-3 %s: %s %s is rejected by field', async (_what, method, path, body, error) => {
  const face = faces['/api/keys'];
  const { authorization } = face;
  const { body: before } = await ask(authorization, 'GET', '/api/webhooks/secret');
  await changingNothing(face, async () => {
    expect(errorOf(await ask(authorization, method, path, body))).toEqual(error);
  });
  expect((await ask(authorization, 'GET', '/api/webhooks/secret')).body).toEqual(before);
});

test('HOOK-2 of two rotations of one version, the secret is replaced once', async () => {
  const { authorization } = faces['/api/keys'];
  const { body } = await ask(authorization, 'GET', '/api/webhooks/secret');
  const rotate = () => ask(authorization, 'POST', '/api/webhooks/secret/rotate', { version: body.version });
  const both = await Promise.all([rotate(), rotate()]);
  const { body: after } = await ask(authorization, 'GET', '/api/webhooks/secret');
  expect(after.version).toBe(body.version + 1);
  for (const one of both) expect([one.status, one.body.secret]).toEqual([200, after.secret]);
});

const listHeader = 'x-service-fallback-models';

test.each([
  ['more than three models', 'gpt-5.4-mini, gpt-5.4-nano, gpt-5.2, gpt-5.1'],
  ['an empty entry', 'gpt-5.4-mini,'],
  ['a repeated model', 'gpt-5.4-mini, gpt-5.4-mini'],
  ['the requested model', MODEL],
  ['an unknown model', 'gpt-0'],
  ['a model of another company', 'claude-haiku-4-5'],
] as const)('FALL-6 %s in the list is 400 with a capped key, and nothing is charged', async (_what, list) => {
  const face = faces['/api/keys'];
  const { body } = await ask(face.authorization, 'GET', '/api/keys');
  const last = body.data.at(-1);
  if (body.data.length >= 50) await ask(face.authorization, 'DELETE', `/api/keys/${last.id}`);
  const made = await ask(face.authorization, 'POST', '/api/keys', { name: 'Capped', limit_usd: '1' });
  await changingNothing(face, async () => {
    const chat = { model: MODEL, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] };
    const reply = await ask(`Bearer ${made.body.key}`, 'POST', '/v1/chat/completions', chat, { [listHeader]: list });
    expect(errorOf(reply)).toEqual([400, 'invalid_fallback_model', listHeader]);
  });
  const shown = await ask(face.authorization, 'GET', `/api/keys/${made.body.id}`);
  expect(shown.body).toMatchObject({ spent_usd: '0', held_usd: '0' });
});
