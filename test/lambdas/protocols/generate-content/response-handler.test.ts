import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect, test } from 'vitest';
import type { WireEvent } from '../../../../lambdas/core/text/text-wire.ts';
import type { Exchange, GatewayResponse } from '../../../../lambdas/http/exchange.ts';
import {
  createStreamGenerateContent,
  generateContent,
} from '../../../../lambdas/protocols/generate-content/response.ts';
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
    receivedAtMs: 0,
    hostEndsAtMs: undefined,
    event: event as APIGatewayProxyEventV2,
    summary: { status: 0 },
    route: { name, route: routes[name], params: { model: 'gemini-x' } },
    admission: { accountId: ACCOUNT, key: {} } as Exchange['admission'],
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
  const deps = { text: world.deps, idempotency: idempotencyOf(world.deps.ledger), finished: () => undefined };
  return { world, plain: createTextRoute(deps, generateContent), stream: createStreamGenerateContent(deps) };
};

const bodyOf = (response: GatewayResponse): Promise<string> =>
  typeof response.body === 'string' ? Promise.resolve(response.body) : text(response.body);

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
    play: async () => ({ kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined }),
  });
  const stream = createStreamGenerateContent({
    text: world.deps,
    idempotency: idempotencyOf(world.deps.ledger),
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

test.for(['proto', '', 'sse,json'])('GEM-2 alt=%s is 400 on every action', async (alt) => {
  const { world, plain, stream } = await served();
  for (const [handler, name] of [
    [plain, 'generateContent'],
    [stream, 'streamGenerateContent'],
  ] as const) {
    await expect(handler(exchangeOf(name, alt))).rejects.toMatchObject({ status: 400, param: 'alt' });
  }
  expect(world.log).toEqual([]);
});

test('GEM-2 alt=sse without a stream is rejected, and the error names the streaming action', async () => {
  const { plain } = await served();
  const refused = expect(plain(exchangeOf('generateContent', 'sse'))).rejects;
  await refused.toMatchObject({ param: 'alt', message: expect.stringContaining(':streamGenerateContent') });
});

test('BILL-4 the error of a request over the budget names the cap as this format does', async () => {
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
