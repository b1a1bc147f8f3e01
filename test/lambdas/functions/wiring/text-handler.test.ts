import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { chatCompletion } from '../../../fixtures/openai/chat-completion.ts';
import { data, provider, text, upstream } from '../../core/catalog/sample-data.ts';
import { cutAfter, eventsIn, fixture, inPieces, toSse } from '../../providers/openai/stream-reading.ts';
import { createTextService, limits } from './text-service.ts';

const plain = () => ({ body: inPieces(JSON.stringify(chatCompletion)) });
/** 19 tokens at 8 USD and 10 at 40 USD per million. */
const cost = parseUsd('0.000552');
const events = eventsIn(fixture('chat-stream.sse'));

test('CHAT-10, BILL-15 a plain answer tells its cost, the balance and the cap that was chosen', async () => {
  const service = await createTextService(plain);
  const answer = await service.ask({});
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ...chatCompletion, model: 'alpha-1' }]);
  expect(answer.headers).toMatchObject({
    'x-service-cost-usd': '0.000552',
    'x-service-balance-usd': '9.999448',
    'x-service-max-tokens': '1000',
    'x-request-id': '01K0000000000000000000000',
  });
  expect((await service.account()).spentPicos).toBe(cost);
  expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'Hello' }],
    max_completion_tokens: 1_000,
    store: false,
  });
});

test("BILL-6 a client's own cap is not told back", async () => {
  const service = await createTextService(plain);
  const { headers } = await service.ask({ max_tokens: 50 });
  expect(headers).not.toHaveProperty('x-service-max-tokens');
});

test('CHAT-11 a stream has its headers, its chunks, one last chunk with usage and cost, and [DONE]', async () => {
  const service = await createTextService(() => ({ body: inPieces(fixture('chat-stream.sse')) }));
  const answer = await service.ask({ stream: true });
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'content-type': expect.stringMatching(/^text\/event-stream/),
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-service-max-tokens': '1000',
  });
  const sent = eventsIn(answer.text);
  expect(sent).toHaveLength(6);
  expect(sent.slice(0, 4)).toEqual(
    events.slice(0, 4).map((data) => data.replace('"model":"gpt-4o-mini-2024-07-18"', '"model":"alpha-1"')),
  );
  expect(JSON.parse(sent[4] ?? '')).toMatchObject({
    model: 'alpha-1',
    choices: [{ finish_reason: 'stop' }],
    usage: { prompt_tokens: 19, completion_tokens: 10, cost: '0.000552' },
  });
  expect(sent[5]).toBe('[DONE]');
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size, service.clock.waiting]).toEqual([cost, 0, 0]);
});

test('BILL-9 a stream that is cut ends in an error event, without [DONE] and uncharged', async () => {
  const service = await createTextService(() => ({ body: cutAfter(toSse(events.slice(0, 3))) }));
  const answer = await service.ask({ stream: true });
  const sent = eventsIn(answer.text);
  expect([answer.status, sent.length]).toEqual([200, 4]);
  expect(JSON.parse(sent[3] ?? '')).toMatchObject({ error: { code: 'upstream_error', type: 'upstream_error' } });
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size]).toEqual([0n, 0]);
  expect(service.finished).toMatchObject([{ status: 200, errorCode: 'upstream_error' }]);
});

test.for([
  ['an error first', [JSON.stringify({ error: { message: 'x', type: 'server_error' } })], 502, 'upstream_error'],
  ['a filter first', [(events[4] ?? '').replace('"stop"', '"content_filter"')], 400, 'content_filter'],
  [
    'a filter after the role',
    [events[0] ?? '', (events[4] ?? '').replace('"stop"', '"content_filter"')],
    400,
    'content_filter',
  ],
  ['nothing at all', [], 502, 'upstream_error'],
] as const)('ERR-4, CHAT-14 %s is a true HTTP error', async ([, played, status, code]) => {
  const service = await createTextService(() => ({ body: inPieces(toSse(played)) }));
  const answer = await service.ask({ stream: true });
  expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code]);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  const { spentPicos, holds } = await service.account();
  expect([spentPicos, holds.size]).toEqual([0n, 0]);
});

test('ERR-9 a refusal of the vendor is the status of the answer', async () => {
  const body = () => inPieces('{"error":{"message":"slow","type":"requests"}}');
  const service = await createTextService(() => ({ status: 429, headers: { 'retry-after': '11' }, body: body() }));
  for (const stream of [true, false]) {
    const answer = await service.ask({ stream });
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([429, 'upstream_capacity']);
    expect(answer.headers['retry-after']).toBe('11');
  }
  expect((await service.account()).spentPicos).toBe(0n);
});

test('CHAT-15 the end user is told in the log line of plain answers and of streams', async () => {
  const service = await createTextService(({ body = '' }) => ({
    body: inPieces(body.includes('"stream":true') ? fixture('chat-stream.sse') : JSON.stringify(chatCompletion)),
  }));
  await service.ask({ user: 'someone' });
  await service.ask({ user: 'someone', stream: true });
  const told = {
    status: 200,
    model: 'alpha-1',
    accountId: 'account-1',
    endUser: 'someone',
    inputTokens: 19,
    outputTokens: 10,
    costPicos: cost,
  };
  expect(service.finished).toMatchObject([told, told]);
});

test('GEN-8 the body is judged before the model, the model before the money', async () => {
  const service = await createTextService(plain);
  const code = async (body: object) => JSON.parse((await service.ask(body)).text).error?.code;
  expect(await code({ model: 'nothing', temperature: 9 })).toBe('invalid_request_error');
  expect(await code({ model: 'nothing', max_tokens: 9e15 })).toBe('model_not_found');
  expect(await code({ max_tokens: 9e15, seed: 1 })).toBe('invalid_request_error');
  expect(await code({ max_tokens: 9e15, stream: true })).toBe('request_budget_exceeded');
  expect(await code({ max_tokens: 2_000_000 })).toBe('insufficient_balance');
  expect(service.requests).toEqual([]);
});

test('ERR-5 neither the key of the vendor nor a prompt is told to the log or to the client', async () => {
  const service = await createTextService(() => ({
    status: 400,
    body: inPieces('{"error":{"message":"bad sk-vendor-canary","param":"sk-vendor-canary"}}'),
  }));
  const answer = await service.ask({ messages: [{ role: 'user', content: 'prompt-canary' }] });
  expect(answer.status).toBe(400);
  expect(`${answer.text}${JSON.stringify(answer.headers)}`).not.toContain('canary');
  expect(JSON.stringify(service.finished)).not.toContain('canary');
});

test('ERR-2 the function works with a clock that is an object of a class', async () => {
  const service = await createTextService(plain, (clock) => clock);
  expect((await service.ask({})).status).toBe(200);
});

test('GEN-6 a request is told nothing of the one before it', async () => {
  const service = await createTextService(plain);
  await service.ask({ messages: [{ role: 'user', content: 'first-canary' }], user: 'first-canary' });
  await service.ask({ messages: [{ role: 'user', content: 'second' }] });
  expect(service.requests).toHaveLength(2);
  expect(service.requests[1]?.body).not.toContain('first-canary');
});

test('CAT-5 a vendor that speaks the same protocol is a row of the catalog and no code', async () => {
  const compatible = provider({
    id: 'mine',
    name: 'Mine',
    kind: 'openai-compatible',
    baseUrl: 'https://mine.test/v1',
    baseUrlVariable: 'MINE_BASE_URL',
    credential: { variable: 'MINE_API_KEY', header: 'X-Key' },
    headers: { 'x-plan': 'b' },
  });
  const model = text({ limits, upstreams: [upstream({ provider: 'mine', model: 'their-name' })] });
  const service = await createTextService(plain, undefined, loadCatalog(data([model], [provider(), compatible])));
  expect((await service.ask({})).status).toBe(200);
  const [request] = service.requests;
  expect(request?.headers).toMatchObject({ 'x-key': 'sk-vendor-canary', 'x-plan': 'b' });
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ model: 'their-name', max_tokens: 1_000 });
  expect((await service.account()).spentPicos).toBe(cost);
});

test('IDEM-1 and IDEM-2 a chat under a key is answered twice and called once', async () => {
  const service = await createTextService(plain);
  const key = { 'idempotency-key': 'one' };
  const [first, again] = [await service.ask({}, key), await service.ask({}, key)];
  expect([first.status, again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
    200,
    200,
    first.text,
    'true',
  ]);
  expect(service.requests).toHaveLength(1);
});

test('BILL-16 a dry run holds, calls and stores nothing', async () => {
  const service = await createTextService(plain);
  const answer = await service.ask({}, { 'x-service-dry-run': 'true' });
  expect([answer.status, JSON.parse(answer.text).object]).toEqual([200, 'dry_run']);
  expect([service.requests.length, (await service.account()).version]).toEqual([0, 1]);
});

test.each([
  ['Idempotency-Key', 'not a key', 'invalid_request_error'],
  ['X-Service-Dry-Run', 'yes', 'invalid_request_error'],
  ['X-Service-Fallback-Model', 'nothing', 'invalid_fallback_model'],
])('IDEM-6, BILL-16, FALL-4 the header %s with "%s" is refused before anything is held', async (name, value, code) => {
  const service = await createTextService(plain);
  const answer = await service.ask({}, { [name.toLowerCase()]: value });
  expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([400, { code, param: name.toLowerCase() }]);
  expect([service.requests.length, (await service.account()).version]).toEqual([0, 1]);
});
