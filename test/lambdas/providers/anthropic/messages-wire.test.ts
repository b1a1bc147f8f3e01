import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { WireAnswer, WireEvent, WireStream } from '../../../../lambdas/core/text/text-wire.ts';
import { message, toolUse } from '../../../fixtures/anthropic/message.ts';
import { dispatch, messagesCall, type Played, wireTo } from './messages-call.ts';
import { codeOf, fixture } from './messages-reading.ts';

/** Body of a client of the same protocol. */
const body: JsonObject = {
  model: 'alpha-1-thinking',
  max_tokens: 50,
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
  ],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'max' },
  top_k: 3,
};

const answerOf = (sent: WireAnswer | WireStream): WireAnswer => {
  if (sent.kind !== 'answer') throw new Error('expected a complete response');
  return sent;
};

const nativeOf = async (played: Played) => {
  const { content, usage } = answerOf(await wireTo(played).wire.buildCall(messagesCall({ body })).send(dispatch()));
  if (content.kind !== 'native') throw new Error('expected native content');
  return { ...content, usage };
};

const neutralOf = async (played: Played) => {
  const { content, usage } = answerOf(await wireTo(played).wire.buildCall(messagesCall()).send(dispatch()));
  if (content.kind !== 'neutral') throw new Error('expected neutral content');
  return { ...content.answer, usage };
};

const counts = { input: 12, cacheRead: 40, cacheWrite: 100, cacheWrite1h: 200, output: 10, reasoning: 50 };

test('BILL-6 only the model and the cap of the client’s body change', async () => {
  const { wire, seen } = wireTo({ body: JSON.stringify(message) });
  await wire.buildCall(messagesCall({ body })).send(dispatch({ outputTokensMax: 77 }));
  expect(JSON.parse(seen.requests[0]?.body ?? '')).toEqual({
    ...body,
    model: 'claude-vendor-20260101',
    max_tokens: 77,
  });
});

test('GEN-5 a call is one request to the URL, with the key and the version of the provider', async () => {
  for (const parts of [{ body }, {}, { body, stream: true }, { stream: true }]) {
    const { wire, seen } = wireTo({ body: JSON.stringify(message) });
    const prepared = wire.buildCall(messagesCall(parts));
    expect(seen.requests).toEqual([]);
    await prepared.send(dispatch());
    expect(seen.requests).toMatchObject([
      {
        url: 'https://api.anthropic.com/v1/messages',
        headers: {
          'x-api-key': 'sk-vendor-canary',
          'anthropic-version': '2023-06-01',
          accept: 'stream' in parts ? 'text/event-stream' : 'application/json',
        },
      },
    ]);
    expect(seen.requests[0]?.headers).not.toHaveProperty('authorization');
  }
});

test('MSG-7 the beta header of a request is sent', async () => {
  const { wire, seen } = wireTo({ body: JSON.stringify(message) });
  await wire.buildCall(messagesCall({ body, headers: { 'anthropic-beta': 'a,b' } })).send(dispatch());
  await wire.buildCall(messagesCall({ body })).send(dispatch());
  expect(seen.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual(['a,b', undefined]);
});

test('MSG-1 a complete response is the provider’s byte for byte except for the model', async () => {
  const spaced = JSON.stringify({ note: { model: 'inner' }, ...message }, null, 2);
  const { text, body: parsed, usage } = await nativeOf({ body: spaced });
  expect(text).toBe(spaced.replace('claude-vendor-20260101', 'alpha-1'));
  expect(parsed).toEqual(JSON.parse(text));
  expect(usage).toEqual(counts);
});

test('MSG-1 a complete response with the client’s model, or with none, stays unchanged', async () => {
  for (const model of ['alpha-1', undefined]) {
    const same = JSON.stringify({ ...message, model });
    expect(await nativeOf({ body: same })).toMatchObject({ text: same, body: JSON.parse(same) });
  }
});

test('BILL-10 a complete response without usage has none', async () => {
  const without = JSON.stringify({ ...message, usage: undefined });
  expect((await nativeOf({ body: without })).usage).toBeUndefined();
  expect((await neutralOf({ body: without })).usage).toBeUndefined();
});

test('CHAT-10 a complete response is converted to the terms of the core', async () => {
  expect(await neutralOf({ body: JSON.stringify(message) })).toEqual({
    text: 'Good day.',
    refusal: null,
    toolCalls: [],
    finishReason: 'stop',
    usage: counts,
  });
});

test('CHAT-5 calls and text are kept, thinking is dropped', async () => {
  const precise = JSON.stringify(toolUse).replace('"id":7', '"id": 12345678901234567890, "price": 1.50');
  expect(await neutralOf({ body: precise })).toMatchObject({
    text: 'One moment.',
    toolCalls: [
      { id: 'toolu_01A', name: 'find', arguments: '{"id":12345678901234567890,"price":1.50}' },
      { id: 'toolu_01B', name: 'now', arguments: '{}' },
    ],
    finishReason: 'tool_calls',
  });
});

test('CHAT-5 calls alone have no text, and an empty response has an empty text', async () => {
  const calls = { ...toolUse, content: toolUse.content.filter(({ type }) => type === 'tool_use') };
  expect((await neutralOf({ body: JSON.stringify(calls) })).text).toBeNull();
  expect((await neutralOf({ body: JSON.stringify({ ...message, content: [] }) })).text).toBe('');
});

test('CHAT-14 a refusal is a result in its own protocol and content_filter in another', async () => {
  const refused = { body: JSON.stringify({ ...message, stop_reason: 'refusal' }) };
  expect((await nativeOf(refused)).usage).toEqual(counts);
  await expect(neutralOf(refused)).rejects.toMatchObject({ code: 'content_filter' });
});

test.for(['', '<html>', '[]', 'null', '{}', '{"type":"message","content":"x"}', JSON.stringify(message).slice(0, -1)])(
  'ERR-9 200 with %s is upstream_error',
  async (odd) => {
    for (const attempt of [nativeOf, neutralOf])
      await expect(attempt({ body: odd })).rejects.toMatchObject({ code: 'upstream_error' });
  },
);

test.for([
  { ...message, stop_reason: null },
  { ...message, content: [{ type: 'text', text: 5 }] },
  { ...message, content: [{ type: 'tool_use', id: 'x', input: {} }] },
  { ...message, content: ['x'] },
])('ERR-9 a response that cannot be translated is upstream_error: %j', async (odd) => {
  await expect(neutralOf({ body: JSON.stringify(odd) })).rejects.toMatchObject({ code: 'upstream_error' });
});

test('ERR-9 an error with status 200 has the code of its type', async () => {
  const error = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
  for (const [attempt, status] of [
    [nativeOf, 529],
    [neutralOf, 429],
  ] as const)
    await expect(attempt({ body: error })).rejects.toMatchObject({ code: 'upstream_capacity', status });
});

test('ERR-9 a capacity error passes Retry-After on; a 401 raises a notice naming the provider', async () => {
  const capacity = wireTo({ status: 529, headers: { 'retry-after': '12' } });
  await expect(capacity.wire.buildCall(messagesCall()).send(dispatch())).rejects.toMatchObject({
    code: 'upstream_capacity',
    retryAfterSeconds: 12,
  });
  const denied = wireTo({
    status: 401,
    body: '{"error":{"type":"authentication_error","message":"sk-vendor-canary"}}',
  });
  await expect(denied.wire.buildCall(messagesCall()).send(dispatch())).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  expect(denied.seen.notices).toEqual(['vendor_refused_us anthropic']);
});

test('ERR-9 a refusal names the client’s field in either protocol', async () => {
  const refusalContext = (text: string) =>
    JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: text } });
  const refusal = { status: 400, body: refusalContext('messages.0.content.0.text: too odd') };
  const attempt = (parts: Parameters<typeof messagesCall>[0]) =>
    wireTo(refusal).wire.buildCall(messagesCall(parts)).send(dispatch());
  await expect(attempt({ body })).rejects.toMatchObject({ param: 'messages[0].content[0]' });
  await expect(attempt({})).rejects.toMatchObject({ param: 'messages[0].content' });
});

const streamed = async (parts: { readonly body?: JsonObject }, name: string) => {
  const { wire, seen } = wireTo({ body: fixture(name) });
  const sent = await wire.buildCall(messagesCall({ ...parts, stream: true })).send(dispatch());
  if (sent.kind !== 'stream') throw new Error('expected a stream');
  const events: WireEvent[] = [];
  const { events: iterator } = sent;
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) events.push(next.value);
  sent.close();
  return { events, seen };
};

test('CHAT-11 a stream is read in the terms of the client’s protocol', async () => {
  const native = await streamed({ body }, 'basic.sse');
  expect(native.events.map(({ kind }) => kind)).toEqual(['native', 'native', 'end']);
  expect(native.events[0]).toMatchObject({ events: [expect.stringContaining('"alpha-1"')], announcement: true });
  const neutral = await streamed({}, 'basic.sse');
  expect(neutral.events.map(({ kind }) => kind)).toEqual(['neutral', 'neutral', 'end']);
  expect([native.seen.discarded, neutral.seen.discarded]).toEqual([1, 1]);
});

test('ERR-9 an error inside a stream names the client’s field', async () => {
  const error = { type: 'invalid_request_error', message: 'messages.0.content.0: late' };
  const { wire } = wireTo({ body: `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n` });
  const sent = await wire.buildCall(messagesCall({ stream: true })).send(dispatch());
  if (sent.kind !== 'stream') throw new Error('expected a stream');
  const thrown = await sent.events.next().catch((reason: unknown) => reason);
  expect(codeOf(thrown)).toBe('invalid_request_error');
  expect(thrown).toMatchObject({ param: 'messages[0].content' });
});
