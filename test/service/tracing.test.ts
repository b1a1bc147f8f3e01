import { randomBytes } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { makeApiKey } from '../../lambdas/core/accounts/keys.ts';
import { until } from '../support/gateway-process.ts';
import { CLIENT, INTERNAL, type ReceivedSpan, SERVER, startCollector } from '../support/otlp-collector.ts';
import { PRO } from '../support/responses-client.ts';
import { silence } from './silence.ts';
import { startSimulated } from './simulated-gateway.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const collector = await startCollector();
const { gateway, vendor, another } = await startSimulated({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
beforeEach(() => collector.clear());
afterAll(() => collector.stop());

const context = {
  traceparent: `00-${TRACE}-${SPAN}-01`,
  tracestate: 'vendor=tracestate-of-the-client',
  baggage: 'user=baggage-of-the-client',
};

interface Sent {
  readonly path?: string;
  readonly body: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly at?: typeof gateway;
}

const send = async ({ path = '/v1/chat/completions', body, headers = {}, at = gateway }: Sent) => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${at.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${at.apiKey}`,
      ...(path.startsWith('/v1/messages') && { 'x-api-key': at.apiKey, 'anthropic-version': '2023-06-01' }),
      ...(path.startsWith('/v1beta') && { 'x-goog-api-key': at.apiKey }),
      ...context,
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** Waits for the root spans of the given number of requests. Returns all spans. */
const exported = (count = 1, at = gateway): Promise<readonly ReceivedSpan[]> =>
  until('the spans of the requests', async () => {
    await at.deps.reporting.tracing?.flush(5_000);
    const spans = collector.spans();
    return spans.filter(({ kind }) => kind === SERVER).length >= count ? spans : undefined;
  });

const chat = (text: string, more: object = {}) => ({
  model: 'gpt-5.4',
  messages: [{ role: 'user', content: text }],
  ...more,
});

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

test('OPS-19 a streamed chat exports its request, admission, hold, provider call and settle', async () => {
  const { status, headers } = await send({ body: chat('Say hello', { stream: true }) });
  expect(status).toBe(200);
  const spans = await exported();
  expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
    ['admission', INTERNAL],
    ['hold', INTERNAL],
    ['chat gpt-5.4', CLIENT],
    ['settle', INTERNAL],
    ['POST /v1/chat/completions', SERVER],
  ]);
  const root = named(spans, 'POST /v1/chat/completions');
  expect(root).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, status: { code: 0 } });
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  for (const span of spans.slice(0, 4)) {
    expect(span.parentSpanId).toBe(root.spanId);
    expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
    expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
  }
  const id = headers.get('x-request-id');
  const logged = JSON.parse(
    gateway
      .output()
      .split('\n')
      .find((line) => line.includes(id ?? '-')) ?? '{}',
  );
  expect(logged.trace_id).toBe(TRACE);
  expect(root.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/chat/completions',
    'http.response.status_code': 200,
    'gen_ai.request.model': 'gpt-5.4',
    'gen_ai.response.model': 'gpt-5.4',
    'gateway.request.id': id,
    'gateway.account.id': gateway.accountId,
    'gateway.cost_usd': logged['gateway.cost_usd'],
    'gateway.first_byte_ms': logged['gateway.first_byte_ms'],
    'gateway.added_ms': logged['gateway.added_ms'],
  });
  expect(named(spans, 'chat gpt-5.4').attributes).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5.4',
    'gen_ai.request.stream': true,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.usage.input_tokens': logged['gen_ai.usage.input_tokens'],
    'gen_ai.usage.output_tokens': logged['gen_ai.usage.output_tokens'],
    'server.address': '127.0.0.1',
    'server.port': Number(new URL(vendor.url).port),
    'gateway.model': 'gpt-5.4',
  });
  expect(named(spans, 'settle').attributes).toEqual({
    'gateway.settle.outcome': 'charged',
    'gateway.cost_usd': logged['gateway.cost_usd'],
  });
  expect(collector.requests.map(({ path }) => path)).toEqual(['/v1/traces']);
  expect(collector.resources()[0]?.resource.attributes['service.name']).toBe('model-gateway');
});

const recording = (): FormData => {
  const form = new FormData();
  form.append('model', 'gpt-transcribe');
  form.append('file', new File([Uint8Array.from(silence())], 'silence.wav', { type: 'audio/wav' }));
  return form;
};

const picture = (model: string) => () => ({ model, prompt: 'a cat', size: '1024x1024' });

const text = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };

type Path = readonly [path: string, body: () => object, call: RegExp, provider: string, settles?: boolean];

/** Requests of every path, with the name of the call and of its provider. */
const paths: readonly Path[] = [
  ['/v1/chat/completions', () => chat('hello'), /^chat /, 'openai'],
  ['/v1/responses', () => ({ model: PRO, input: 'hello' }), /^chat /, 'openai'],
  ['/v1/responses', () => ({ model: PRO, input: 'hello', stream: true }), /^chat /, 'openai'],
  [
    '/v1/messages',
    () => ({ model: 'claude-haiku-4-5', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }),
    /^chat /,
    'anthropic',
  ],
  [
    '/v1/messages',
    () => ({ model: 'claude-haiku-4-5', max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    /^chat /,
    'anthropic',
  ],
  ['/v1beta/models/gemini-3.8-flash:generateContent', () => text, /^generate_content /, 'gcp.gemini'],
  ['/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse', () => text, /^generate_content /, 'gcp.gemini'],
  ['/v1/embeddings', () => ({ model: 'text-embedding-3-small', input: 'hello' }), /^embeddings /, 'openai'],
  ['/v1/moderations', () => ({ model: 'omni-moderation-latest', input: 'hello' }), /^moderation /, 'openai'],
  ['/v1/images/generations', picture('gpt-image-2'), /^generate_content /, 'openai'],
  ['/v1/images/generations', picture('seedream-4-0'), /^generate_content /, 'byteplus'],
  ['/v1/audio/speech', () => ({ model: 'tts-1', input: 'hello', voice: 'alloy' }), /^generate_content /, 'openai'],
  ['/v1/audio/transcriptions', recording, /^generate_content /, 'openai'],
  [
    '/v1/videos',
    () => ({ model: 'seedance-2-0', prompt: 'a cat', seconds: '4', size: '1280x720' }),
    /^generate_content /,
    'byteplus',
    false,
  ],
];

for (const [path, body, call, provider, settles = true] of paths)
  test(`OPS-19 ${path} exports a true call, and sends no trace context to the provider`, async () => {
    vendor.reset();
    const { status, text: answer } = await send({ path, body: body() });
    expect(status, answer).toBe(200);
    const spans = await exported();
    const made = spans.find(({ name }) => call.test(name));
    expect(made?.kind).toBe(CLIENT);
    expect(made?.attributes).toMatchObject({ 'gen_ai.provider.name': provider, 'server.address': '127.0.0.1' });
    expect(made?.status.code).toBe(0);
    const others = spans.filter((span) => span !== made && span.kind === INTERNAL).map(({ name }) => name);
    expect(others).toEqual(['admission', 'hold', ...(settles ? ['settle'] : [])]);
    expect(vendor.requests.length).toBeGreaterThan(0);
    const received = JSON.stringify(vendor.requests);
    for (const secret of ['traceparent', 'tracestate', 'baggage', TRACE, SPAN]) expect(received).not.toContain(secret);
    expect(collector.requests.map((request) => request.body).join()).not.toContain('of-the-client');
  });

const errorOf = (span: ReceivedSpan) => [span.attributes['error.type'], span.status.code];

test('OPS-19 a failed call is an error of the call and of the request, and its hold is released', async () => {
  expect((await send({ body: chat('[[status 500]]') })).status).toBe(502);
  const spans = await exported();
  expect(errorOf(named(spans, 'chat gpt-5.4'))).toEqual(['upstream_error', 2]);
  expect(errorOf(named(spans, 'POST /v1/chat/completions'))).toEqual(['upstream_error', 2]);
  expect(named(spans, 'settle').attributes).toEqual({
    'gateway.settle.outcome': 'released',
    'gateway.settle.reason': 'upstream_error',
  });
  expect(named(spans, 'hold').status.code).toBe(0);
});

test('OPS-19 a stream that breaks off keeps its status and has the error', async () => {
  const { status } = await send({ body: chat('[[error-event 4]]', { stream: true }) });
  expect(status).toBe(200);
  const root = named(await exported(), 'POST /v1/chat/completions');
  expect(root.attributes['http.response.status_code']).toBe(200);
  expect(root.status.code).toBe(2);
});

test('OPS-19 a client that leaves has the whole call, and its charge', async () => {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${gateway.apiKey}` },
    body: JSON.stringify(chat('[[pause 100]] a long one', { stream: true })),
  });
  await response.body?.getReader().read();
  leaving.abort();
  const spans = await exported();
  const root = named(spans, 'POST /v1/chat/completions');
  expect(root.attributes['gateway.client_left']).toBe(true);
  // Without a traceparent, the trace starts here.
  expect(root.parentSpanId ?? '').toBe('');
  expect(root.traceId).not.toBe(TRACE);
  expect(named(spans, 'settle').attributes['gateway.settle.outcome']).toBe('charged');
  expect(named(spans, 'chat gpt-5.4').attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
});

test('OPS-19 a replayed response has neither a hold nor a call', async () => {
  const headers = { 'idempotency-key': 'key-of-the-client' };
  for (const _ of [1, 2]) expect((await send({ body: chat('once'), headers })).status).toBe(200);
  const spans = await exported(2);
  const roots = spans.filter(({ kind }) => kind === SERVER);
  expect(roots.map(({ attributes }) => attributes['gateway.replayed'])).toEqual([undefined, true]);
  expect(spans.filter(({ name }) => name === 'hold')).toHaveLength(1);
  expect(spans.filter(({ kind }) => kind === CLIENT)).toHaveLength(1);
  expect(collector.requests.map(({ body }) => body).join()).not.toContain('key-of-the-client');
});

test('OPS-19 a fallback model that serves the request is the model of the call', async () => {
  const at = await another({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, CIRCUIT_FAILURES: '1' });
  expect((await send({ at, body: chat('[[status 500]]') })).status).toBe(502);
  await exported(1, at);
  collector.clear();
  const headers = { 'x-service-fallback-model': 'gpt-5.6-terra' };
  const { status, headers: answered } = await send({ at, body: chat('hello'), headers });
  expect([status, answered.get('x-service-model-used')]).toEqual([200, 'gpt-5.6-terra']);
  const spans = await exported(1, at);
  expect(spans.filter(({ kind }) => kind === CLIENT).map(({ name }) => name)).toEqual(['chat gpt-5.6-terra']);
  expect(named(spans, 'POST /v1/chat/completions').attributes['gen_ai.response.model']).toBe('gpt-5.6-terra');
});

test('OPS-19 a wrong API key is an error of admission, and the key is not exported', async () => {
  const wrong = makeApiKey(randomBytes(32));
  const { status } = await send({ body: chat('hello'), headers: { authorization: `Bearer ${wrong}` } });
  expect(status).toBe(401);
  const spans = await exported();
  expect(spans.map(({ name }) => name)).toEqual(['admission', 'POST /v1/chat/completions']);
  expect(errorOf(named(spans, 'admission'))).toEqual(['invalid_api_key', 2]);
  expect(named(spans, 'POST /v1/chat/completions').status.code).toBe(0);
  for (const { body } of collector.requests) expect(body).not.toContain(wrong);
});

test('OPS-19 a client that does not record its trace gets none here', async () => {
  const traceparent = `00-${TRACE}-${SPAN}-00`;
  expect((await send({ body: chat('hello'), headers: { traceparent } })).status).toBe(200);
  expect((await send({ body: chat('hello') })).status).toBe(200);
  expect((await exported()).filter(({ kind }) => kind === SERVER)).toHaveLength(1);
});

/** A request with a unique word in each of its parts, at every protocol for text. */
const planted = (mark: (place: string) => string, failure: string): readonly Sent[] => {
  const headers = {
    'user-agent': mark('user agent'),
    'x-request-id': mark('request id'),
    tracestate: `a=${mark('tracestate')}`,
    baggage: `b=${mark('baggage')}`,
  };
  const tool = { name: mark('tool'), description: mark('description'), parameters: { type: 'object', properties: {} } };
  const system = { role: 'system', content: mark('system') };
  const user = { role: 'user', content: `${failure} ${mark('prompt')}` };
  const called = [
    { id: 'c1', type: 'function', function: { name: tool.name, arguments: JSON.stringify({ a: mark('arguments') }) } },
  ];
  const turns = [
    { role: 'assistant', content: null, tool_calls: called },
    { role: 'tool', tool_call_id: 'c1', content: mark('tool result') },
  ];
  const body = { messages: [system, user, ...turns, user], tools: [{ type: 'function', function: tool }] };
  return [
    {
      headers: { ...headers, 'idempotency-key': mark('idempotency') },
      body: { ...body, model: 'gpt-5.4', user: mark('end user') },
    },
    { headers, body: { ...body, model: 'gpt-5.4', stream: true, user: mark('end user') } },
    { headers, body: { ...body, model: mark('model') } },
    { headers, path: `/v1/${mark('path')}`, body },
    { headers, path: `/v1/chat/completions?key=${mark('query')}`, body: { ...body, model: 'gpt-5.4' } },
    {
      headers,
      path: '/v1/messages',
      body: { model: 'claude-haiku-4-5', max_tokens: 50, system: mark('system'), messages: [user] },
    },
    {
      headers,
      path: '/v1beta/models/gemini-3.8-flash:generateContent',
      body: { contents: [{ role: 'user', parts: [{ text: user.content }] }] },
    },
    { headers, path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: mark('input') } },
    { headers, path: '/v1/images/generations', body: { model: 'gpt-image-2', prompt: mark('image prompt') } },
  ];
};

test('OPS-19 no word of a request is exported, whether it succeeds or fails', async () => {
  const places: string[] = [];
  const mark = (place: string): string => `canary-${places.push(place)}-x`;
  const requests = ['', '[[status 400]]', '[[status 500]]'].flatMap((failure) => planted(mark, failure));
  for (const request of requests) await send(request);
  await exported(requests.length);
  const bytes = collector.requests.map(({ headers, body }) => JSON.stringify(headers) + body).join();
  expect(places.length).toBeGreaterThan(50);
  expect(places.filter((_, index) => bytes.includes(`canary-${index + 1}-x`))).toEqual([]);
  expect(bytes).not.toContain(gateway.apiKey);
  expect(bytes.split('"traceId"').length).toBeGreaterThan(60);
});

test('OPS-19 without a collector requests are served, and one line reports it', async () => {
  const at = await another({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  for (let index = 0; index < 5; index += 1) {
    expect((await send({ at, body: chat('hello') })).status).toBe(200);
    await at.deps.reporting.tracing?.flush(300);
  }
  await until('the report', async () => at.output().includes('traces_lost') || undefined, 20_000);
  const reports = at
    .output()
    .split('\n')
    .filter((line) => line.includes('traces_lost'));
  expect(reports).toEqual([expect.stringContaining('ECONNREFUSED')]);
}, 60_000);

test('OPS-19 a collector that does not respond delays no request', async () => {
  collector.answer.delayMs = 5_000;
  const at = await another({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await send({ at, body: chat('first') });
  void at.deps.reporting.tracing?.flush(60_000);
  const startedAt = performance.now();
  expect((await send({ at, body: chat('second') })).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  collector.answer.delayMs = 0;
}, 30_000);
