import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { type InProcessGateway, startInProcess, TEST_DAY } from '../support/in-process-gateway.ts';

const MODEL = 'gpt-5.4';
const HOUR = 3_600_000;

let vendor: Simulator;
let gateway: InProcessGateway;
let nowMs = TEST_DAY;

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startInProcess({
    vendorUrl: vendor.url,
    now: () => nowMs,
    environment: { LIMIT_KEY_PER_SECOND: '10', LIMIT_KEY_BURST: '1000000' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the members.
  readonly body: any;
}

const call = async (
  apiKey: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> => {
  const reply = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
};

const create = async (apiKey: string, body: object = { name: 'A' }): Promise<Record<string, string>> => {
  const { status, body: made } = await call(apiKey, 'POST', '/api/keys', { body });
  expect(status, JSON.stringify(made)).toBe(200);
  return made;
};

const chat = (apiKey: string, model = MODEL) =>
  call(apiKey, 'POST', '/v1/chat/completions', {
    body: { model, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] },
  });

test('KEY-8 a created key is shown once, works with the official SDK, and ends with its deletion', async () => {
  const { apiKey } = await gateway.issue();
  const made = await create(apiKey, { name: 'Web site' });
  expect(made).toMatchObject({ object: 'api_key', name: 'Web site', first: false, rights: [], version: 1 });
  const client = new OpenAI({ apiKey: made.key ?? '', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const asking = () =>
    client.chat.completions.create({ model: MODEL, max_tokens: 2_000, messages: [{ role: 'user', content: 'Hi' }] });
  expect((await asking()).choices[0]?.message.content).toBeTruthy();
  const { body: list } = await call(apiKey, 'GET', '/api/keys');
  expect(list).toMatchObject({ object: 'list', has_more: false });
  expect(list.data.map(({ name }: { name: string }) => name)).toEqual(['First key', 'Web site']);
  const { body: read, headers } = await call(apiKey, 'GET', `/api/keys/${made.id}`);
  expect([read.last_used_at, headers.get('etag')]).toEqual([new Date(nowMs).toISOString(), '"1"']);
  for (const shown of [list, read]) expect(JSON.stringify(shown)).not.toContain(made.key);
  expect(await call(apiKey, 'DELETE', `/api/keys/${made.id}`)).toMatchObject({
    status: 200,
    body: { id: made.id, object: 'api_key.deleted', deleted: true },
  });
  await expect(asking()).rejects.toMatchObject({ status: 401, code: 'revoked_api_key' });
  expect(gateway.output()).not.toContain(made.key);
});

test('KEY-8 the fields of a key are shown as they were set, and null removes a restriction', async () => {
  const { apiKey } = await gateway.issue();
  const expires_at = new Date(nowMs + HOUR).toISOString();
  const fields = {
    ...{ name: 'A', limit_usd: '2.5', limit_period: 'month', expires_at, models: [MODEL], requests_per_second: 2.5 },
    rights: [],
  };
  const made = await create(apiKey, fields);
  expect(made).toMatchObject({
    ...fields,
    ...{ spent_usd: '0', held_usd: '0', limit_resets_at: '2026-12-01T00:00:00.000Z', last_used_at: null },
  });
  const path = `/api/keys/${made.id}`;
  const cleared = { limit_usd: null, expires_at: null, models: null, requests_per_second: null };
  const edited = await call(apiKey, 'PATCH', path, { body: { ...cleared, rights: ['manage'] } });
  expect(edited.body).toMatchObject({ ...cleared, limit_period: null, rights: ['manage'], name: 'A', version: 2 });
  expect((await call(made.key ?? '', 'GET', '/api/keys')).status).toBe(200);
});

test('KEY-8, KEY-9 charges and holds count in the cap, and a cap below them is 400', async () => {
  const { apiKey } = await gateway.issue();
  const made = await create(apiKey, { name: 'A', limit_usd: '1' });
  expect((await chat(made.key ?? '')).status).toBe(200);
  const { body: used } = await call(apiKey, 'GET', `/api/keys/${made.id}`);
  expect(Number(used.spent_usd)).toBeGreaterThan(0);
  const below = await call(apiKey, 'PATCH', `/api/keys/${made.id}`, { body: { limit_usd: '0.000000000001' } });
  expect([below.status, below.body.error.param]).toEqual([400, 'limit_usd']);
  await call(apiKey, 'PATCH', `/api/keys/${made.id}`, { body: { limit_usd: used.spent_usd } });
  expect(await chat(made.key ?? '')).toMatchObject({ status: 402, body: { error: { code: 'key_limit_exceeded' } } });
  expect((await chat(apiKey)).status).toBe(200);
});

test('KEY-8 a key calls and lists only its models, in every format', async () => {
  const { apiKey } = await gateway.issue();
  const { key = '' } = await create(apiKey, { name: 'A', models: [MODEL] });
  expect((await chat(key)).status).toBe(200);
  expect(await chat(key, 'gpt-5.4-mini')).toMatchObject({
    status: 403,
    body: { error: { code: 'model_not_allowed', param: 'model' } },
  });
  const { body: listed } = await call(key, 'GET', '/v1/models');
  expect(listed.data.map(({ id }: { id: string }) => id)).toEqual([MODEL]);
  expect((await call(key, 'GET', `/v1/models/${MODEL}`)).status).toBe(200);
  expect((await call(key, 'GET', '/v1/models/gpt-5.4-mini')).status).toBe(403);
  const fallback = await call(key, 'POST', '/v1/chat/completions', {
    body: { model: MODEL, max_tokens: 20, messages: [{ role: 'user', content: 'Hi' }] },
    headers: { 'x-service-fallback-model': 'gpt-5.4-mini' },
  });
  expect([fallback.status, fallback.body.error.param]).toEqual([403, 'x-service-fallback-model']);
});

test('KEY-8 an expired key is 401, and a rate of its own is 429 with the rate', async () => {
  const { apiKey } = await gateway.issue();
  const slow = await create(apiKey, { name: 'A', requests_per_second: 1 });
  expect((await call(slow.key ?? '', 'GET', '/api/account')).status).toBe(200);
  const refused = await call(slow.key ?? '', 'GET', '/api/account');
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limit_exceeded' } } });
  expect(refused.body.error.message).toContain('1 per second');
  expect(refused.headers.get('x-ratelimit-limit-requests')).toBe('1');
  const short = await create(apiKey, { name: 'B', expires_at: new Date(nowMs + HOUR).toISOString() });
  nowMs += HOUR;
  expect(await call(short.key ?? '', 'GET', '/api/account')).toMatchObject({
    status: 401,
    body: { error: { code: 'expired_api_key' } },
  });
});

test('KEY-8 a slow key gives its rate to the keys that it creates without a rate', async () => {
  const { apiKey } = await gateway.issue();
  const slow = await create(apiKey, { name: 'A', requests_per_second: 1, rights: ['manage'] });
  expect(await create(slow.key ?? '', { name: 'B' })).toMatchObject({ requests_per_second: 1 });
  expect(await create(apiKey, { name: 'C' })).toMatchObject({ requests_per_second: null });
});

test('KEY-8 a key without a cap shows the sum of its charges', async () => {
  const { apiKey } = await gateway.issue();
  const made = await create(apiKey);
  expect((await chat(made.key ?? '')).status).toBe(200);
  const { body: account } = await call(apiKey, 'GET', '/api/usage');
  const { body: shown } = await call(apiKey, 'GET', `/api/keys/${made.id}`);
  expect(shown).toMatchObject({ spent_usd: account.data[0].cost_usd, held_usd: null });
  expect((await call(apiKey, 'GET', '/api/keys')).body.data[0]).toMatchObject({ first: true, spent_usd: '0' });
});

test.each([
  ['name', { name: 5 }],
  ['limit_period', { name: 'A', limit_period: 'day' }],
  ['expires_at', { name: 'A', expires_at: '2026-01-01T00:00:00Z' }],
  ['models[1]', { name: 'A', models: ['gpt-5.4', 'gpt-0'] }],
  ['requests_per_second', { name: 'A', requests_per_second: 11 }],
  ['rights', { name: 'A', rights: ['manage'], limit_usd: '1' }],
] as const)('KEY-8 a wrong %s in %j is 400 and creates nothing', async (param, body) => {
  const { apiKey } = await gateway.issue();
  const refused = await call(apiKey, 'POST', '/api/keys', { body });
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
    400,
    'invalid_request_error',
    param,
  ]);
  expect((await call(apiKey, 'GET', '/api/keys')).body.data).toHaveLength(1);
});

test('KEY-8 unknown ids and ids of another account are 404', async () => {
  const [{ apiKey }, other] = [await gateway.issue(), await gateway.issue()];
  const foreign = await create(other.apiKey);
  for (const id of [foreign.id, '0123456789abcdef', 'x', '__proto__', 'a%00b']) {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status, body } = await call(apiKey, method, `/api/keys/${id}`, {
        ...(method === 'PATCH' ? { body: { name: 'B' } } : {}),
      });
      expect([method, status, body.error.code]).toEqual([method, 404, 'not_found']);
    }
  }
  expect((await call(foreign.key ?? '', 'GET', '/api/account')).status).toBe(200);
});

test('KEY-8 one of two changes of the same version is 409, and a malformed If-Match is 400', async () => {
  const { apiKey } = await gateway.issue();
  const { id } = await create(apiKey);
  const edit = (ifMatch: string, name: string) =>
    call(apiKey, 'PATCH', `/api/keys/${id}`, { body: { name }, headers: { 'if-match': ifMatch } });
  const both = await Promise.all([edit('"1"', 'B'), edit('"1"', 'C')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(both.find(({ status }) => status === 409)?.body.error.code).toBe('key_changed');
  expect((await edit('W/"2"', 'D')).status).toBe(200);
  expect((await edit('*', 'E')).status).toBe(200);
  const malformed = await edit('3', 'F');
  expect([malformed.status, malformed.body.error.param]).toEqual([400, 'if-match']);
  expect(await call(apiKey, 'DELETE', `/api/keys/${id}`, { headers: { 'if-match': '"1"' } })).toMatchObject({
    status: 409,
  });
});

test('KEY-8 a key without manage is 403 on every route, and an idempotency key is 400', async () => {
  const { apiKey } = await gateway.issue();
  const { id, key = '' } = await create(apiKey);
  const attempts = [
    call(key, 'GET', '/api/keys'),
    call(key, 'POST', '/api/keys', { body: { name: 'B' } }),
    call(key, 'GET', `/api/keys/${id}`),
    call(key, 'PATCH', `/api/keys/${id}`, { body: { name: 'B' } }),
    call(key, 'DELETE', `/api/keys/${id}`),
  ];
  for (const { status, body } of await Promise.all(attempts))
    expect([status, body.error.code]).toEqual([403, 'key_right_missing']);
  const repeated = await call(apiKey, 'POST', '/api/keys', {
    body: { name: 'B' },
    headers: { 'idempotency-key': 'one' },
  });
  expect([repeated.status, repeated.body.error.code]).toEqual([400, 'idempotency_not_supported']);
  expect((await call(apiKey, 'PATCH', `/api/keys/${id}`, { body: {} })).status).toBe(400);
});
