import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test } from 'vitest';
import type { WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import type { Exchange, GatewayResponse, RouteHandler } from '../../../../lambdas/http/exchange.ts';
import {
  createStreamGenerateContent,
  generateContent,
} from '../../../../lambdas/protocols/generate-content/handler.ts';
import { createTextRoute } from '../../../../lambdas/protocols/text-route.ts';
import { routes } from '../../../../lambdas/routes.ts';
import { idempotencyOf } from '../../../support/memory/memory-idempotency.ts';
import { capabilities, provider, text as textEntry, upstream } from '../../core/catalog/sample-data.ts';
import { ACCOUNT, answered, createWorld, streamOf, used } from '../../core/text/text-world.ts';
import { hello } from './content-requests.ts';

const speaking = textEntry({
  id: 'gemini-x',
  protocols: ['generate_content', 'chat_completions'],
  upstreams: [upstream({ wire: 'gemini_generate_content', provider: 'google' })],
  capabilities: capabilities(),
});
const google = provider({ id: 'google', kind: 'google', baseUrl: 'https://google.invalid' });

const element = (word: string): WireEvent => ({ kind: 'native', events: [`{"a":"${word}"}`] });
const end: WireEvent = { kind: 'end', ending: { kind: 'native', events: ['{"z":1}'] }, usage: used(40, 10) };

type Name = 'generateContent' | 'streamGenerateContent';

const exchangeOf = (name: Name, alt?: string, changes: object = {}, headers: Record<string, string> = {}): Exchange => {
  const json = JSON.parse(JSON.stringify({ contents: [hello], ...changes }));
  const event: Pick<APIGatewayProxyEventV2, 'headers' | 'queryStringParameters'> = {
    headers,
    queryStringParameters: { key: 'sk-service-x', ...(alt === undefined ? {} : { alt }) },
  };
  return {
    requestId: 'request-1',
    startedAtMs: 0,
    cameWholeAtMs: 0,
    hostEndsAtMs: undefined,
    event: event as APIGatewayProxyEventV2,
    summary: { status: 0 },
    route: { name, route: routes[name], params: { model: 'gemini-x' } },
    admission: { accountId: ACCOUNT } as Exchange['admission'],
    body: { json, bytes: Buffer.byteLength(JSON.stringify(json)) },
    releaseBody: () => undefined,
    finishesLater: false,
  };
};

const served = async (...events: readonly (WireEvent | Error)[]) => {
  const world = await createWorld({
    models: [speaking],
    providers: [google],
    wires: ['gemini_generate_content'],
    play: async ({ request }) => (request.stream ? streamOf(...events) : answered()),
  });
  const ports = { text: world.ports, idempotency: idempotencyOf(world.ports.ledger), finished: () => undefined };
  return { world, plain: createTextRoute(ports, generateContent), stream: createStreamGenerateContent(ports) };
};

const bodyOf = (response: GatewayResponse): Promise<string> =>
  typeof response.body === 'string' ? Promise.resolve(response.body) : text(response.body);

const asked = async (handler: RouteHandler, exchange: Exchange) => {
  const response = await handler(exchange);
  return { ...response, body: await bodyOf(response) };
};

test('GEM-2 ?alt=sse is answered with server-sent events', async () => {
  const { stream } = await served(element('a'), end);
  const { headers, body } = await asked(stream, exchangeOf('streamGenerateContent', 'sse'));
  expect(headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-service-max-tokens': '100',
  });
  expect(body).toBe('data: {"a":"a"}\n\ndata: {"z":1}\n\n');
});

test.for([undefined, 'json'])('GEM-2 alt=%s is answered with one JSON array', async (alt) => {
  const { stream } = await served(element('a'), element('b'), end);
  const { headers, body } = await asked(stream, exchangeOf('streamGenerateContent', alt));
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  expect(JSON.parse(body)).toEqual([{ a: 'a' }, { a: 'b' }, { z: 1 }]);
});

test.for(['sse', undefined])('GEN-3 an error after content with alt=%s, released', async (alt) => {
  const { world, stream } = await served(element('a'), new Error('the wire broke'));
  const { statusCode, body } = await asked(stream, exchangeOf('streamGenerateContent', alt));
  expect(statusCode).toBe(200);
  expect(body).toContain('{"error":{"code":500,');
  expect(body.endsWith(']')).toBe(false);
  expect(world.records()).toMatchObject([{ outcome: 'released' }]);
});

test.for([
  ['sse', ': keep-alive\n\n'],
  ['json', ' '],
] as const)('CHAT-11 after 15 s of silence a stream with alt=%s has its own keep-alive', async ([alt, sign]) => {
  let release = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    release = resolve;
  });
  const events = async function* (): AsyncGenerator<WireEvent, void> {
    yield element('a');
    await waiting;
    yield end;
  };
  const world = await createWorld({
    models: [speaking],
    providers: [google],
    wires: ['gemini_generate_content'],
    play: async () => ({ kind: 'stream', events: events(), close: () => undefined }),
  });
  const stream = createStreamGenerateContent({
    text: world.ports,
    idempotency: idempotencyOf(world.ports.ledger),
    finished: () => undefined,
  });
  const response = await stream(exchangeOf('streamGenerateContent', alt));
  const body = bodyOf(response);
  await world.clock.advance(15_000);
  release();
  const first = alt === 'sse' ? 'data: {"a":"a"}\n\n' : '[{"a":"a"}\n';
  const last = alt === 'sse' ? 'data: {"z":1}\n\n' : ',\r\n{"z":1}\n]';
  expect(await body).toBe(`${first}${sign}${last}`);
});

test('GEN-5 the wire is asked for a stream by the route, and never by the body', async () => {
  const { world, plain, stream } = await served(element('a'), end);
  await asked(plain, exchangeOf('generateContent'));
  await asked(stream, exchangeOf('streamGenerateContent'));
  expect(world.sent.map(({ request }) => request.stream)).toEqual([false, true]);
  expect(world.sent.map(({ protocol }) => protocol)).toEqual(['generate_content', 'generate_content']);
});

test('BILL-15 a plain answer passes as the vendor wrote it, with its receipt in the headers', async () => {
  const { plain } = await served();
  const { headers, body } = await asked(plain, exchangeOf('generateContent'));
  expect(body).toBe('{"id":"answer"}');
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-service-cost-usd': '0.00072',
    'x-service-max-tokens': '100',
  });
});

test.for(['proto', 'media', '', 'SSE', 'sse,json'])('GEM-2 alt=%s is 400 on every action', async (alt) => {
  const { world, plain, stream } = await served();
  for (const [handler, name] of [
    [plain, 'generateContent'],
    [stream, 'streamGenerateContent'],
  ] as const) {
    await expect(handler(exchangeOf(name, alt))).rejects.toMatchObject({ status: 400, param: 'alt' });
  }
  expect(world.log).toEqual([]);
});

test('GEM-2 a plain answer is no stream', async () => {
  const { plain } = await served();
  const refused = expect(plain(exchangeOf('generateContent', 'sse'))).rejects;
  await refused.toMatchObject({ param: 'alt', message: expect.stringContaining(':streamGenerateContent') });
});

test('BILL-1 a refused request holds nothing', async () => {
  const { world, stream } = await served();
  await expect(stream(exchangeOf('streamGenerateContent', 'sse', { cachedContent: 'a' }))).rejects.toMatchObject({
    param: 'cachedContent',
  });
  expect(world.log).toEqual([]);
});

test('CAT-6 an unknown model in the path is 404, and one of another protocol 400', async () => {
  const { stream } = await served();
  const unknown = exchangeOf('streamGenerateContent', 'sse');
  unknown.route = { name: 'streamGenerateContent', route: routes.streamGenerateContent, params: { model: 'gemini-y' } };
  await expect(stream(unknown)).rejects.toMatchObject({
    code: 'model_not_found',
    param: 'model',
    message: expect.stringContaining('gemini-x'),
  });
});

test('BILL-4 a request over the budget names the cap as this format calls it', async () => {
  const { plain } = await served();
  const changes = { generationConfig: { maxOutputTokens: 100_000_000 } };
  await expect(plain(exchangeOf('generateContent', undefined, changes))).rejects.toMatchObject({
    code: 'request_budget_exceeded',
    param: 'generationConfig.maxOutputTokens',
  });
});

test('CHAT-13 a prompt that cannot fit names the contents', async () => {
  const { plain } = await served();
  const changes = { contents: [{ parts: [{ text: 'x'.repeat(200_000) }] }] };
  await expect(plain(exchangeOf('generateContent', undefined, changes))).rejects.toMatchObject({
    code: 'context_length_exceeded',
    param: 'contents',
  });
});
