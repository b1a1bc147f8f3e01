import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { saying } from '../support/gateway-chat.ts';
import { chatBody, type KeyedReply, postKeyed, untilAnswered } from '../support/keyed-requests.ts';
import { randomRuns } from '../support/random-runs.ts';

let vendor: Simulator;
let gateway: TestGateway;
let number = 0;
const newKey = (): string => {
  number += 1;
  return `key-${number}`;
};

beforeAll(async () => {
  vendor = await startSimulator();
  gateway = await startGateway({ vendorUrl: vendor.url, environment: { LOCAL_BALANCE_USD: '100' } });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});
beforeEach(() => vendor.reset());

const ask = (key: string, body: object | string, options?: Parameters<typeof postKeyed>[3]) =>
  postKeyed(gateway, key, body, options);

const costOf = ({ headers }: KeyedReply): string | null => headers.get('x-service-cost-usd');

test.for([
  ['/v1/chat/completions', chatBody('hello')],
  ['/v1/chat/completions', { model: 'claude-sonnet-5', messages: saying('no cap') }],
  ['/v1/responses', { model: 'gpt-5.5-pro', input: 'hello' }],
] as const)('IDEM-1 and IDEM-2 %s: the same bytes again, no call, no charge', async ([path, body]) => {
  const key = newKey();
  const first = await ask(key, body, { path });
  const { balance } = await gateway.account();
  const again = await ask(key, body, { path });
  expect([first.status, again.status, first.replayed, again.replayed]).toEqual([200, 200, false, true]);
  expect(again.text).toBe(first.text);
  for (const name of ['content-type', 'x-service-cost-usd', 'x-service-max-tokens'])
    expect(again.headers.get(name), name).toBe(first.headers.get(name));
  expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  expect(again.headers.get('x-service-balance-usd')).toBeNull();
  expect(vendor.requests).toHaveLength(1);
  expect((await gateway.account()).balance).toBe(balance);
});

const { numRuns: keys } = randomRuns('service', 'test/service/idempotency.test.ts', 5);

test(`IDEM-4 and IDEM-8 100 at once on each of ${keys} keys: one call, one charge, one answer`, async () => {
  for (let turn = 0; turn < keys; turn += 1) {
    vendor.reset();
    const key = newKey();
    const before = await gateway.account();
    const body = chatBody('[[delay 50]] all at once');
    const replies = await Promise.all(Array.from({ length: 100 }, () => ask(key, body)));
    const served = replies.filter(({ status }) => status === 200);
    const waiting = replies.filter(({ code }) => code === 'idempotency_in_progress');
    expect(served.length + waiting.length).toBe(100);
    expect(served.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const { headers, status } of waiting) expect([status, headers.get('retry-after')]).toEqual([409, '5']);
    const later = await Promise.all(waiting.map(() => untilAnswered(() => ask(key, body))));
    expect(new Set([...served, ...later].map(({ text }) => text)).size).toBe(1);
    expect(vendor.requests).toHaveLength(1);
    const { balance } = await gateway.untilSettled();
    expect(String(before.balance - balance)).toBe(String(picosOf(costOf(served[0]!))));
  }
});

const picosOf = (usd: string | null): bigint => {
  const [whole = '0', part = ''] = (usd ?? '').split('.');
  return BigInt(whole + part.padEnd(12, '0'));
};

const original = { ...chatBody('the original'), temperature: 1, seed: 7 };

test.for([
  ['another prompt', { ...original, messages: saying('another') }, {}],
  ['another cap', { ...original, max_tokens: 51 }, {}],
  ['a field more', { ...original, user: 'someone' }, {}],
  ['a field less', { model: original.model, messages: original.messages, max_tokens: 50, temperature: 1 }, {}],
  ['a reserve', original, { headers: { 'x-service-fallback-model': 'gpt-4.1-nano' } }],
  ['another endpoint', original, { path: '/v1/responses' }],
  ['what is not even valid', { ...original, messages: [] }, {}],
] as const)('IDEM-3 %s under a used key is a mismatch', async ([_name, body, options]) => {
  const key = newKey();
  expect((await ask(key, original)).status).toBe(200);
  const reply = await ask(key, body, options);
  expect([reply.status, reply.code]).toEqual([422, 'idempotency_key_mismatch']);
  expect(reply.text).toContain('"param":"idempotency-key"');
  expect(vendor.requests).toHaveLength(1);
});

test('IDEM-6 the order of members and the spelling of values make no other request', async () => {
  const key = newKey();
  const first = await ask(
    key,
    '{"model":"gpt-4.1-mini","max_tokens":50,"messages":[{"role":"user","content":"A"}],"top_p":1}',
  );
  const same = await ask(
    key,
    ' {"messages": [{"content": "\\u0041", "role": "user"}], "top_p": 1.0, "max_tokens": 5e1, "model": "gpt-4.1-mini"} ',
  );
  expect([first.status, same.status, same.replayed, same.text === first.text]).toEqual([200, 200, true, true]);
});

test.for(['', ' ', 'with space', 'tab\there', 'ü', 'x'.repeat(256)])('IDEM-6 the key "%s" is refused', async (key) => {
  const reply = await ask(
    encodeURI(key) === key || key.includes('x') ? key : Buffer.from(key).toString('latin1'),
    chatBody('x'),
  );
  expect([reply.status, reply.code]).toEqual([400, 'invalid_request_error']);
  expect(reply.text).toContain('"param":"idempotency-key"');
  expect(vendor.requests).toHaveLength(0);
});

test('IDEM-6 a key of 255 characters of every visible kind is taken', async () => {
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
  const key = `${visible}${visible}${visible}`.slice(0, 255);
  expect((await ask(key, chatBody('x'))).status).toBe(200);
  expect((await ask(key, chatBody('x'))).replayed).toBe(true);
});

const messagesHeaders = () => ({ 'x-api-key': gateway.apiKey, 'provider-version': '2023-06-01' });

test.for([
  ['/v1/chat/completions', { ...chatBody('x'), stream: true }],
  ['/v1/responses', { model: 'gpt-5.5-pro', input: 'x', stream: true }],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
  ['/v1/moderations', { model: 'omni-moderation-latest', input: 'x' }],
  ['/v1/messages', { model: 'claude-sonnet-5', max_tokens: 9, messages: saying('x') }],
  ['/v1beta/models/gemini-3.8-flash:generateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
  ['/v1beta/models/gemini-3.8-flash:streamGenerateContent', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
] as const)('IDEM-5 %s does not take a key', async ([path, body]) => {
  const headers = { ...messagesHeaders(), 'x-goog-api-key': gateway.apiKey };
  const reply = await ask(newKey(), body, { path, headers });
  expect([reply.status, reply.code]).toEqual([400, 'idempotency_not_supported']);
  expect(vendor.requests).toHaveLength(0);
});

test('IDEM-5 a GET does not look at it', async () => {
  const headers = { authorization: `Bearer ${gateway.apiKey}`, 'idempotency-key': 'not a key' };
  expect((await fetch(`${gateway.url}/v1/models`, { headers })).status).toBe(200);
});

test('IDEM-7 what the vendor refuses is stored, what fails is not', async () => {
  const refusedKey = newKey();
  const refused = await ask(refusedKey, chatBody('[[content-filter]]'));
  const again = await ask(refusedKey, chatBody('[[content-filter]]'));
  expect([refused.status, refused.code, again.status, again.replayed]).toEqual([400, 'content_filter', 400, true]);
  expect([again.text, again.headers.get('content-type')]).toEqual([refused.text, refused.headers.get('content-type')]);
  expect(vendor.requests).toHaveLength(1);
  const failedKey = newKey();
  vendor.next({ refusal: { kind: 'status', status: 500, retryAfterSeconds: undefined } });
  const failed = await ask(failedKey, chatBody('hello'));
  const repeated = await ask(failedKey, chatBody('hello'));
  expect([failed.status, repeated.status, repeated.replayed]).toEqual([502, 200, false]);
  expect(vendor.requests).toHaveLength(3);
});

test('IDEM-7 and GEN-8 a refusal of ours leaves the key free for the request put right', async () => {
  const key = newKey();
  expect((await ask(key, { ...chatBody('x'), temperature: 3 })).status).toBe(400);
  expect((await ask(key, { ...chatBody('x'), model: 'nothing' })).status).toBe(404);
  expect((await ask(key, chatBody('x'))).status).toBe(200);
});

test('IDEM-7 after six calls that came to nothing the key is spent, and the SDKs are told not to try again', async () => {
  const key = newKey();
  const body = chatBody('[[status 500]]');
  for (let turn = 0; turn < 6; turn += 1) expect((await ask(key, body)).status).toBe(502);
  const reply = await ask(key, body);
  expect([reply.status, reply.code, reply.headers.get('x-should-retry')]).toEqual([
    409,
    'idempotency_exhausted',
    'false',
  ]);
  expect(vendor.requests).toHaveLength(6);
});

test('IDEM-7 an answer above 256 KB comes back byte for byte', async () => {
  const key = newKey();
  const body = { ...chatBody('[[bytes 700000]]'), max_tokens: 4_000 };
  const first = await ask(key, body);
  const again = await ask(key, body);
  expect([first.status, again.status, again.replayed]).toEqual([200, 200, true]);
  expect(first.text.length).toBeGreaterThan(700_000);
  expect(again.text === first.text).toBe(true);
  expect(costOf(again)).toBe(costOf(first));
});

test('BILL-16 a key beside a dry run is checked for its form alone, and nothing is stored', async () => {
  const key = newKey();
  const dry = { headers: { 'x-service-dry-run': 'true' } };
  const told = await ask(key, chatBody('x'), dry);
  expect([told.status, told.replayed]).toEqual([200, false]);
  expect(told.text).toContain('"object":"dry_run"');
  expect((await ask('not a key', chatBody('x'), dry)).status).toBe(400);
  const real = await ask(key, chatBody('x'));
  expect([real.status, real.replayed]).toEqual([200, false]);
});
