import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { Exchange } from '../../../../lambdas/http/exchange.ts';
import { messages } from '../../../../lambdas/protocols/messages/response.ts';
import { requireMessagesVersion } from '../../../../lambdas/protocols/messages-version.ts';
import { functionUrlEvent } from '../../http/function-url.ts';
import { alternatives, bodyOf, entryOf, refusalIn } from './messages-requests.ts';

const good = '2023-06-01';

test.for([
  { 'provider-version': good },
  { 'anthropic-version': good },
  { 'provider-version': good, 'anthropic-version': good },
  { 'anthropic-version': '2026-10-21' },
  { 'provider-version': good, 'anthropic-version': '2026-10-21' },
])('AUTH-2 MSG-6 %j has a supported version', (headers) => {
  expect(() => requireMessagesVersion(headers)).not.toThrow();
});

test.for([
  [{}, 'anthropic-version'],
  [{ 'provider-version': '2023-01-01' }, 'provider-version'],
  [{ 'provider-version': `${good}, ${good}` }, 'provider-version'],
  [{ 'provider-version': '2026-10-21' }, 'provider-version'],
  [{ 'provider-version': good, 'anthropic-version': '2024-01-01' }, 'anthropic-version'],
  [{ 'provider-version': '2024-01-01', 'anthropic-version': good }, 'provider-version'],
] as const)('AUTH-2 %j is 400 with param %s', ([headers, param]) => {
  const error = refusalIn(() => requireMessagesVersion(headers));
  expect(error).toMatchObject({ code: 'invalid_request_error', status: 400, param });
  expect(error.message).toContain(good);
});

test('AUTH-2 a request without a version gets both names of the header', () => {
  const { message } = refusalIn(() => requireMessagesVersion({}));
  for (const name of ['anthropic-version', 'provider-version']) expect(message).toContain(name);
});

const exchangeOf = (headers: Readonly<Record<string, string>>, fields: object = {}) => {
  const exchange: Exchange = {
    requestId: 'id',
    startedAtMs: 0,
    receivedAtMs: 0,
    hostEndsAtMs: undefined,
    event: functionUrlEvent({ method: 'POST', path: '/v1/messages', headers }),
    summary: { status: 0 },
    route: undefined,
    admission: undefined,
    body: undefined,
    releaseBody: () => undefined,
    finishesLater: false,
  };
  return { ...exchange, body: { json: bodyOf({ ...fields }), bytes: 100 } };
};

test('AUTH-2 GEN-8 the version is rejected before the fields of the body', () => {
  const broken = { max_tokens: 'x' };
  expect(refusalIn(() => messages.toParams(exchangeOf({}, broken), alternatives)).param).toBe('anthropic-version');
  const versioned = exchangeOf({ 'provider-version': good }, broken);
  expect(refusalIn(() => messages.toParams(versioned, alternatives)).param).toBe('max_tokens');
});

test('MSG-7 the anthropic-beta header of the client is read', () => {
  const headers = { 'anthropic-version': good, 'anthropic-beta': 'fast-mode-2026-02-01,effort-2025-11-24' };
  const order = messages.toParams(exchangeOf(headers), alternatives);
  const { headers: sent, ignored } = order.validateFor(entryOf(order.modelId));
  expect(sent).toEqual({ 'anthropic-beta': 'effort-2025-11-24' });
  expect(ignored).toEqual(['anthropic-beta.fast-mode-2026-02-01']);
});

const context = { modelId: 'claude-haiku-4-5', requestId: 'id', nowMs: 0 };

const opened = () => {
  const written: string[] = [];
  const adapter = messages.toStream({ ...context, write: (text) => void written.push(text) });
  return { adapter, text: () => written.join('') };
};

const start = 'event: message_start\ndata: {"type":  "message_start"}\n\n';
const ping = 'event: ping\r\ndata: {}\r\n\r\n';
const delta = 'event: message_delta\ndata: {"usage":{}}\n\n';
const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const receipt = { costPicos: 1n, usage: undefined, balancePicos: undefined };

test('MSG-1 a stream has the provider’s events, byte for byte and in their order', () => {
  const { adapter, text } = opened();
  adapter.native([start, ping]);
  adapter.native([]);
  adapter.native([ping]);
  expect(text()).toBe(start + ping + ping);
  adapter.finish({ kind: 'native', events: [delta, stop] }, receipt);
  expect(text()).toBe(start + ping + ping + delta + stop);
});

test('GEN-3 an error in a stream is an event named error, and no message_stop follows', () => {
  const { adapter, text } = opened();
  adapter.native([start]);
  adapter.fail(new GatewayError('upstream_error', 'broken', { param: 'p' }));
  const frame = text().slice(start.length);
  expect(frame).toMatch(/^event: error\ndata: [^\n]*\n\n$/);
  expect(JSON.parse(frame.slice(frame.indexOf('{')))).toEqual({
    type: 'error',
    error: { message: 'broken', type: 'api_error', code: 'upstream_error', param: 'p' },
    request_id: 'id',
  });
});

test('MSG-1 a result of another protocol is a programming error', () => {
  const { adapter } = opened();
  const answer = { text: 'a', refusal: null, toolCalls: [], finishReason: 'stop' } as const;
  const content = { kind: 'neutral', answer } as const;
  expect(() => messages.toBody({ kind: 'answer', content, usage: undefined }, context)).toThrow('another protocol');
  expect(() => adapter.neutral([])).toThrow('another protocol');
  expect(() => adapter.finish({ kind: 'neutral', finishReason: 'stop' }, receipt)).toThrow('another protocol');
});
