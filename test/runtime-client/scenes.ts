import assert from 'node:assert/strict';
import * as z from 'zod';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { restApiEvent } from '../lambdas/http/rest-api-event.ts';
import type { Invocation } from './runtime-api.ts';
import { ACCOUNT, type TextFunction } from './text-function.ts';

/** Behavior of the function that must be the same under AWS's runtime and under the gateway's own host. */
export interface Scene {
  readonly title: string;
  play(started: TextFunction): Promise<void>;
}

const MODEL = 'gpt-4.1-mini';
const INTEGRATION = 'application/vnd.awslambda.http-integration-response';
const DELIMITER = Buffer.alloc(8);

const preludeSchema = z.object({ statusCode: z.int(), headers: z.record(z.string(), z.string()) });

/** Head of a response and the bytes after it. */
const parse = (bytes: Buffer) => {
  const end = bytes.indexOf(DELIMITER);
  assert.ok(end > 0, `an answer without a head: ${bytes.toString().slice(0, 200)}`);
  const { statusCode, headers } = preludeSchema.parse(JSON.parse(bytes.subarray(0, end).toString()));
  return { status: statusCode, headers, text: bytes.subarray(end + DELIMITER.length).toString() };
};

/** The complete response, without a failure of the runtime. */
const answerOf = async (invocation: Invocation) => {
  assert.deepEqual(await invocation.ended, { streamed: true, contentType: INTEGRATION, error: undefined });
  return parse(invocation.bytes());
};

/** Source: https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads */
const urlEvent = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: path,
  rawQueryString: '',
  headers: { host: 'id.lambda-url.eu-central-1.on.aws', 'content-type': 'application/json', ...headers },
  requestContext: {
    ...{ accountId: 'anonymous', apiId: 'id', domainName: 'id.lambda-url.eu-central-1.on.aws', domainPrefix: 'id' },
    http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'test' },
    ...{ requestId: 'aws-request', routeKey: '$default', stage: '$default' },
    ...{ time: '01/Nov/2026:00:00:00 +0000', timeEpoch: Date.UTC(2026, 10, 1) },
  },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  isBase64Encoded: false,
});

const chatBody = (content: string) => ({ model: MODEL, max_tokens: 50, messages: [{ role: 'user', content }] });

const chat = (apiKey: string, content: string, members: object = {}) =>
  urlEvent('POST', '/v1/chat/completions', { authorization: `Bearer ${apiKey}` }, { ...chatBody(content), ...members });

/** Charges of an account with no open hold, in pico-USD, newest first. Their sum must equal its spend. */
const charges = async ({ ledger, records }: TextFunction): Promise<readonly bigint[]> => {
  const account = await ledger.readAccount(ACCOUNT);
  assert.equal(account?.holds.size, 0, 'a hold is left');
  const { records: found } = await records.listRecords(ACCOUNT, { limit: 1_000 });
  const amounts = found.filter(({ outcome }) => outcome === 'settled').map(({ amountPicos }) => amountPicos);
  assert.equal(
    amounts.reduce((sum, amount) => sum + amount, 0n),
    account?.spentPicos,
  );
  return amounts;
};

const lastChunk = z.looseObject({ usage: z.looseObject({ cost_usd: z.string() }) });

const eventsIn = (text: string): readonly string[] =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice('data: '.length));

const streamed: Scene = {
  title: 'a streamed chat begins while the provider speaks, ends with [DONE], and is charged by then',
  play: async (started) => {
    const before = await charges(started);
    const event = chat(started.apiKey, 'say much [[words 20]] [[pause 50]]', { stream: true });
    const invocation = started.api.invoke(event);
    await invocation.saw('data: ');
    assert.equal(started.vendor.requests.at(-1)?.outcome, 'open', 'nothing came before the vendor had ended');
    await invocation.saw('[DONE]');
    // The charge must already exist, because Lambda may freeze the rest of the work together with the function.
    const [newest, ...older] = await charges(started);
    assert.deepEqual(older, before);
    const { status, headers, text } = await answerOf(invocation);
    assert.equal(status, 200);
    assert.match(headers['content-type'] ?? '', /^text\/event-stream/);
    const events = eventsIn(text);
    assert.equal(events.at(-1), '[DONE]');
    const { usage } = lastChunk.parse(JSON.parse(events.at(-2) ?? ''));
    assert.equal(usage.cost_usd, formatUsd(newest ?? 0n));
    assert.ok(newest !== undefined && newest > 0n);
  },
};

const throughRestApi: Scene = {
  title: 'a streamed chat that comes as an event of a REST API is answered the same way',
  play: async (started) => {
    const before = await charges(started);
    const event = restApiEvent({
      ...{ method: 'POST', path: '/v1/chat/completions' },
      headers: [
        ['Authorization', `Bearer ${started.apiKey}`],
        ['Content-Type', 'application/json'],
      ],
      body: JSON.stringify({ ...chatBody('hello'), stream: true }),
    });
    const { status, text } = await answerOf(started.api.invoke(event));
    assert.equal(status, 200);
    assert.equal(eventsIn(text).at(-1), '[DONE]');
    assert.deepEqual((await charges(started)).slice(1), before);
  },
};

const plain: Scene = {
  title: 'a plain chat says what it cost, and has been charged by its end',
  play: async (started) => {
    const before = await charges(started);
    const invocation = started.api.invoke(chat(started.apiKey, 'hello'));
    const { status, headers, text } = await answerOf(invocation);
    const [newest, ...older] = await charges(started);
    assert.deepEqual(older, before);
    assert.equal(status, 200);
    assert.equal(headers['x-service-cost-usd'], formatUsd(newest ?? 0n));
    assert.equal(z.object({ object: z.string() }).parse(JSON.parse(text)).object, 'chat.completion');
  },
};

const errorSchema = z.object({ error: z.object({ code: z.string() }) });
const codeIn = (text: string): string => errorSchema.parse(JSON.parse(text)).error.code;

/**
 * Creates a scene for a request that the gateway or the provider refuses: it gets its real status and is not charged.
 */
const refused = (title: string, status: number, code: string, event: (apiKey: string) => object): Scene => ({
  title,
  play: async (started) => {
    const before = await charges(started);
    const answer = await answerOf(started.api.invoke(event(started.apiKey)));
    assert.deepEqual([answer.status, codeIn(answer.text)], [status, code]);
    assert.deepEqual(await charges(started), before);
  },
});

const cut: Scene = {
  title: 'a stream that the provider cuts ends with an error event, uncharged, and the runtime lives on',
  play: async (started) => {
    const before = await charges(started);
    const event = chat(started.apiKey, 'break off [[words 20]] [[cut 3]]', { stream: true });
    const { status, text } = await answerOf(started.api.invoke(event));
    assert.equal(status, 200);
    const events = eventsIn(text);
    assert.equal(codeIn(events.at(-1) ?? ''), 'upstream_error');
    await started.api.idle();
    assert.ok(started.running());
    assert.deepEqual(await charges(started), before);
  },
};

const empty: Scene = {
  title: 'an answer without a body keeps its status and its headers',
  play: async (started) => {
    const event = urlEvent('OPTIONS', '/v1/chat/completions', { origin: 'https://page.example' });
    const { status, headers, text } = await answerOf(started.api.invoke(event));
    assert.equal(status, 204);
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(text, '');
  },
};

const quiet: Scene = {
  title: 'ERR-5 the log has a record of every request, and neither a key nor a prompt',
  play: async (started) => {
    const event = chat(started.apiKey, 'canary-of-the-runtime [[status 500]]');
    const { status } = await answerOf(started.api.invoke(event));
    assert.equal(status, 502);
    await started.api.idle();
    const output = started.output();
    assert.ok(output.includes('"gateway.request.id"'));
    for (const secret of [started.apiKey, 'canary-of-the-runtime']) assert.ok(!output.includes(secret), secret);
  },
};

export const scenes: readonly Scene[] = [
  streamed,
  throughRestApi,
  plain,
  refused('an unknown key is 401', 401, 'invalid_api_key', () => chat('sk-service-nobody', 'hello')),
  refused('a stream that the provider refuses is an HTTP error', 502, 'upstream_error', (apiKey) =>
    chat(apiKey, '[[status 500]]', { stream: true }),
  ),
  cut,
  empty,
  quiet,
];
