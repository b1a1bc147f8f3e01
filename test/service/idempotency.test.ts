import { expect, test } from 'vitest';
import { parseUsd } from '../../lambdas/core/money/usd.ts';
import { saying } from '../support/gateway-chat.ts';
import { chatBody, type KeyedReply, postKeyed } from './keyed-requests.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated({ LOCAL_BALANCE_USD: '100' });
let number = 0;
const newKey = (): string => {
  number += 1;
  return `key-${number}`;
};

const ask = (key: string, body: object | string, options?: Parameters<typeof postKeyed>[3]) =>
  postKeyed(gateway, key, body, options);

const costOf = ({ headers }: KeyedReply): string | null => headers.get('x-service-cost-usd');

test.for([
  ['/v1/chat/completions', chatBody('hello')],
  ['/v1/chat/completions', { model: 'claude-sonnet-5', messages: saying('no cap') }],
  ['/v1/responses', { model: 'gpt-5.5-pro', input: 'hello' }],
] as const)('IDEM-1 and IDEM-2 %s replays the same bytes without call or charge', async ([path, body]) => {
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

test('IDEM-4, IDEM-8 of 100 concurrent requests with one key, one is served and 99 get 409', async () => {
  const key = newKey();
  const before = await gateway.account();
  const body = chatBody('all concurrently');
  const gate = vendor.gate();
  const refused: KeyedReply[] = [];
  const pending = Array.from({ length: 100 }, async () => {
    const reply = await ask(key, body);
    if (reply.status !== 200) refused.push(reply);
    return reply;
  });
  await expect.poll(() => refused.length, { timeout: 30_000 }).toBe(99);
  gate.open();
  for (const { status, code, headers } of refused)
    expect([status, code, headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '5']);
  const [served, ...others] = (await Promise.all(pending)).filter(({ status }) => status === 200);
  expect([served?.replayed, others]).toEqual([false, []]);
  const later = await ask(key, body);
  expect([later.replayed, later.text]).toEqual([true, served?.text]);
  expect(vendor.requests).toHaveLength(1);
  const { balance } = await gateway.untilSettled();
  expect(before.balance - balance).toBe(parseUsd(costOf(later) ?? ''));
});

const original = { ...chatBody('the original'), temperature: 1, seed: 7 };

test.for([
  ['another prompt', { ...original, messages: saying('another') }, {}],
  ['a fallback model', original, { headers: { 'x-service-fallback-model': 'gpt-4.1-nano' } }],
  ['another endpoint', original, { path: '/v1/responses' }],
  ['an invalid body', { ...original, messages: [] }, {}],
] as const)('IDEM-3 %s with a used key is a mismatch', async ([_name, body, options]) => {
  const key = newKey();
  expect((await ask(key, original)).status).toBe(200);
  const reply = await ask(key, body, options);
  expect([reply.status, reply.code]).toEqual([422, 'idempotency_key_mismatch']);
  expect(vendor.requests).toHaveLength(1);
});

test('IDEM-6 member order and the notation of values do not make another request', async () => {
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

test('IDEM-6 a key of 255 visible characters of every kind is accepted', async () => {
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
  const key = `${visible}${visible}${visible}`.slice(0, 255);
  expect((await ask(key, chatBody('x'))).status).toBe(200);
  expect((await ask(key, chatBody('x'))).replayed).toBe(true);
});

test("IDEM-7 errors of the provider's validation are stored, failures are not", async () => {
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

test('IDEM-7 and GEN-8 a gateway error frees the key for the corrected request', async () => {
  const key = newKey();
  expect((await ask(key, { ...chatBody('x'), temperature: 3 })).status).toBe(400);
  expect((await ask(key, { ...chatBody('x'), model: 'nothing' })).status).toBe(404);
  expect((await ask(key, chatBody('x'))).status).toBe(200);
});

test('IDEM-7 a response above 256 KB is replayed byte for byte', async () => {
  const key = newKey();
  const body = { ...chatBody('[[bytes 700000]]'), max_tokens: 4_000 };
  const first = await ask(key, body);
  const again = await ask(key, body);
  expect([first.status, again.status, again.replayed]).toEqual([200, 200, true]);
  expect(first.text.length).toBeGreaterThan(700_000);
  expect(again.text === first.text).toBe(true);
  expect(costOf(again)).toBe(costOf(first));
});

test('BILL-16 a dry run only checks the form of its key and stores nothing', async () => {
  const key = newKey();
  const dry = { headers: { 'x-service-dry-run': 'true' } };
  const told = await ask(key, chatBody('x'), dry);
  expect([told.status, told.replayed]).toEqual([200, false]);
  expect(told.text).toContain('"object":"dry_run"');
  expect((await ask('not a key', chatBody('x'), dry)).status).toBe(400);
  const real = await ask(key, chatBody('x'));
  expect([real.status, real.replayed]).toEqual([200, false]);
});
