import { expect, test } from 'vitest';
import type { CallTimes } from '../../../../lambdas/core/paid-call/dependencies.ts';
import { toSpans } from '../../../../lambdas/functions/wiring/trace-spans.ts';
import type { Summary } from '../../../../lambdas/http/exchange.ts';
import type { RequestTrace } from '../../../../lambdas/http/request-trace.ts';

const call: CallTimes = { modelId: 'gpt-5.4', provider: 'openai', holdAtMs: 1_010 };
const held: CallTimes = { ...call, heldAtMs: 1_020 };
const called: CallTimes = { ...held, calledAtMs: 1_021, firstByteAtMs: 1_121 };
const charged: CallTimes = { ...called, endedAtMs: 1_400, settleAtMs: 1_401, settledAtMs: 1_420 };

const spansOf = (summary: Partial<Summary>, trace: Partial<RequestTrace> = {}) => {
  const { root, parts } = toSpans(
    'request-1',
    { status: 200, route: 'chatCompletions', totalMs: 500, ...summary },
    { traceId: 'a', parent: undefined, method: 'POST', startedAtMs: 1_000, admittedAtMs: 1_009, calls: [], ...trace },
    () => ({ address: 'api.example', port: 443, model: 'upstream-name' }),
  );
  return {
    root,
    parts,
    names: parts.map(({ name }) => name),
    part: (name: string) => parts.find((each) => each.name === name),
  };
};

const present = (attributes: object = {}) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

test('OPS-19 a charged stream has admission, hold, call and settle, with their own times', () => {
  const { root, parts, part } = spansOf(
    { model: 'gpt-5.4', inputTokens: 7, outputTokens: 46, costPicos: 1_000_000n },
    { calls: [charged], streamed: true },
  );
  expect(parts.map(({ name, startMs, endMs, failed }) => [name, startMs, endMs, failed])).toEqual([
    ['admission', 1_000, 1_009, false],
    ['hold', 1_010, 1_020, false],
    ['chat upstream-name', 1_021, 1_400, false],
    ['settle', 1_401, 1_420, false],
  ]);
  expect(present(part('chat upstream-name')?.attributes)).toEqual({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'upstream-name',
    'gen_ai.request.stream': true,
    'gen_ai.response.time_to_first_chunk': 0.1,
    'gen_ai.usage.input_tokens': 7,
    'gen_ai.usage.output_tokens': 46,
    'server.address': 'api.example',
    'server.port': 443,
    'gateway.model': 'gpt-5.4',
  });
  expect(present(part('settle')?.attributes)).toEqual({
    'gateway.settle.outcome': 'charged',
    'gateway.cost_usd': '0.000001',
  });
  expect(root).toMatchObject({
    name: 'POST /v1/chat/completions',
    kind: 'server',
    startMs: 1_000,
    endMs: 1_500,
    failed: false,
  });
});

test('OPS-19 the error of a call is on the call, and its hold is released', () => {
  const failed = { ...called, settleAtMs: 1_300, settledAtMs: 1_310, released: 'upstream_error' };
  const { root, part } = spansOf({ status: 502, errorCode: 'upstream_error' }, { calls: [failed] });
  expect(part('chat upstream-name')).toMatchObject({ failed: true, endMs: 1_300 });
  expect(part('chat upstream-name')?.attributes['error.type']).toBe('upstream_error');
  expect(part('settle')).toMatchObject({ failed: false });
  expect(part('settle')?.attributes).toMatchObject({
    'gateway.settle.outcome': 'released',
    'gateway.settle.reason': 'upstream_error',
  });
  expect(root).toMatchObject({ failed: true });
  expect(root.attributes['error.type']).toBe('upstream_error');
});

test('OPS-19 a failed charge of a complete response is an error of settle, not of the call', () => {
  const late = { ...charged, released: 'internal_error' };
  const { part } = spansOf({ status: 500, errorCode: 'internal_error' }, { calls: [late] });
  expect(part('chat upstream-name')).toMatchObject({ failed: false });
  expect(part('settle')).toMatchObject({ failed: true });
});

test('OPS-19 a stream that fails after its first byte has the status 200 and an error', () => {
  const broken = { ...called, settleAtMs: 1_300, released: 'upstream_error' };
  const { root, part } = spansOf({ errorCode: 'upstream_error' }, { calls: [broken], streamed: true });
  expect(root).toMatchObject({ failed: true });
  expect(root.attributes['http.response.status_code']).toBe(200);
  expect(root.attributes['gen_ai.response.model']).toBeUndefined();
  // The release did not finish before the response did.
  expect(part('settle')?.endMs).toBe(1_500);
});

test('OPS-19 a fallback has both holds, and one call', () => {
  const first = { ...held, settleAtMs: 1_022, settledAtMs: 1_025, released: 'given_up' };
  const second = { ...charged, modelId: 'claude', provider: 'anthropic' };
  const { root, names, parts } = spansOf({ model: 'claude', inputTokens: 1 }, { calls: [first, second] });
  expect(names).toEqual(['admission', 'hold', 'settle', 'hold', 'chat upstream-name', 'settle']);
  expect(parts.filter(({ failed }) => failed)).toEqual([]);
  expect(root.attributes).toMatchObject({ 'gen_ai.request.model': 'gpt-5.4', 'gen_ai.response.model': 'claude' });
});

test('OPS-19 a refused hold has the error and no call', () => {
  const { names, part } = spansOf({ status: 402, errorCode: 'insufficient_balance' }, { calls: [call] });
  expect(names).toEqual(['admission', 'hold']);
  expect(part('hold')).toMatchObject({ failed: true, endMs: 1_500 });
});

test('OPS-19 a rejected API key is an error of admission', () => {
  const { root, part } = spansOf({ status: 401, errorCode: 'invalid_api_key' }, { admittedAtMs: undefined });
  expect(part('admission')).toMatchObject({ failed: true, endMs: 1_500 });
  // An error of the client is not one of the server.
  expect(root.failed).toBe(false);
});

test('OPS-19 a request without a route has one span, without its path or its method', () => {
  const { root, names } = spansOf(
    { status: 404, route: undefined, errorCode: 'not_found' },
    { method: 'SECRET', admittedAtMs: undefined },
  );
  expect(names).toEqual([]);
  expect(root.name).toBe('HTTP');
  expect(root.attributes['http.request.method']).toBe('_OTHER');
});

test.each([
  ['responses', 'chat', undefined],
  ['messages', 'chat', undefined],
  ['generateContent', 'generate_content', undefined],
  ['streamGenerateContent', 'generate_content', undefined],
  ['embeddings', 'embeddings', undefined],
  ['moderations', 'moderation', undefined],
  ['generateImages', 'generate_content', 'image'],
  ['editImages', 'generate_content', 'image'],
  ['transcribe', 'generate_content', 'text'],
  ['speak', 'generate_content', 'speech'],
  ['createVideo', 'generate_content', 'video'],
] as const)('OPS-19 a call of %s is %s with the output %s', (route, operation, output) => {
  const { part } = spansOf({ route }, { calls: [{ ...charged, provider: 'google' }] });
  expect(part(`${operation} upstream-name`)?.attributes).toMatchObject({
    'gen_ai.operation.name': operation,
    'gen_ai.output.type': output,
    'gen_ai.provider.name': 'gcp.gemini',
  });
});

test('OPS-19 a replay, a dry run and a client that left are marked, and an end user is not exported', () => {
  const { root } = spansOf({ replayed: true, dryRun: true, endUser: 'someone' }, { clientLeft: true });
  expect(root.attributes).toMatchObject({
    'gateway.replayed': true,
    'gateway.dry_run': true,
    'gateway.client_left': true,
  });
  expect(JSON.stringify(root)).not.toContain('someone');
});
