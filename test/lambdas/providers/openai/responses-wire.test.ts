import { expect, test } from 'vitest';
import { responsesAnswer } from '../../../fixtures/openai/responses-answer.ts';
import { providerOf } from '../../core/text/text-models.ts';
import { answerIn, chatCall, errorIn, eventsOf, nativeCall, play, streamIn } from './responses-wire-world.ts';
import { codeOf, fixture } from './stream-reading.ts';

const usage = { input: 20, cacheRead: 11, cacheWrite: 6, cacheWrite1h: 0, output: 12, reasoning: 8 };
const answer = (changes: object = {}): string => JSON.stringify({ ...responsesAnswer, ...changes });
const message = (...content: readonly object[]) => ({ type: 'message', role: 'assistant', content });
const said = (text: string) => ({ type: 'output_text', text, annotations: [] });
const declined = (refusal: string) => ({ type: 'refusal', refusal });
const called = (call_id: string, name: string, text: string) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: text,
});

test('GEN-5 a call is one request to the URL with the provider key', async () => {
  for (const call of [nativeCall(), chatCall()]) {
    const { requests } = await play(call, { body: answer() });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      url: 'https://vendor.test/v1/responses',
      headers: { authorization: 'Bearer sk-vendor-canary', accept: 'application/json' },
    });
  }
});

test('RESP-1 a complete response passes as text except for the model', async () => {
  const text = JSON.stringify(responsesAnswer, null, 2);
  const { content, usage: counted } = answerIn((await play(nativeCall(), { body: text })).sent);
  expect(content).toEqual({
    kind: 'native',
    text: text.replace('"model": "gpt-6.2-sol-2026-11-17"', '"model": "alpha-1"'),
    body: { ...responsesAnswer, model: 'alpha-1' },
  });
  expect(counted).toEqual(usage);
  const ours = JSON.stringify({ ...responsesAnswer, model: 'alpha-1' });
  expect(answerIn((await play(nativeCall(), { body: ours })).sent).content).toMatchObject({ text: ours });
});

test('RESP-1 the top-level model is replaced, wherever it is among decoys, or added', async () => {
  const decoys = { metadata: { model: 'inner' }, output: [message(said('"model":"inner"]'))], tools: [] };
  const theirs = { object: 'response', ...decoys, model: 'theirs', usage: { input_tokens: 1, model: 'inner' } };
  for (const changed of [theirs, { model: 'theirs', ...decoys }, { ...decoys, end: { list: [], model: 'inner' } }]) {
    const { content } = answerIn((await play(nativeCall(), { body: JSON.stringify(changed) })).sent);
    const text = content.kind === 'native' ? content.text : '';
    expect(JSON.parse(text)).toEqual({ ...changed, model: 'alpha-1' });
  }
});

test.for([
  ['incomplete', { reason: 'max_output_tokens' }],
  ['incomplete', { reason: 'content_filter' }],
] as const)(
  'CHAT-14 a native response that is %s for %j passes with its usage',
  async ([status, incomplete_details]) => {
    const { content, usage: counted } = answerIn(
      (await play(nativeCall(), { body: answer({ status, incomplete_details }) })).sent,
    );
    expect([content.kind === 'native' && content.body.status, counted]).toEqual([status, usage]);
  },
);

test.for([
  [[message(said('A'), said('B')), message(said('C'))], { text: 'AB\n\nC', finishReason: 'stop' }],
  [[{ type: 'reasoning', summary: [] }], { text: '', finishReason: 'stop' }],
  [[message(declined('No.'))], { text: null, refusal: 'No.', finishReason: 'stop' }],
  [
    [message(said('So:')), called('c1', 'f', '{"a":1}'), called('c2', 'g', '')],
    {
      text: 'So:',
      toolCalls: [
        { id: 'c1', name: 'f', arguments: '{"a":1}' },
        { id: 'c2', name: 'g', arguments: '' },
      ],
      finishReason: 'tool_calls',
    },
  ],
  [
    [called('c1', 'f', '{}')],
    { text: null, toolCalls: [{ id: 'c1', name: 'f', arguments: '{}' }], finishReason: 'tool_calls' },
  ],
] as const)('CHAT-10 the output %j is converted to chat’s terms', async ([output, expected]) => {
  const { content, usage: counted } = answerIn((await play(chatCall(), { body: answer({ output }) })).sent);
  expect(content).toEqual({ kind: 'neutral', answer: { refusal: null, toolCalls: [], ...expected } });
  expect(counted).toEqual(usage);
});

test('CHAT-10 a response at its cap ends with length, even with calls', async () => {
  const body = answer({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [called('c1', 'f', '{"a')],
  });
  expect(answerIn((await play(chatCall(), { body })).sent).content).toMatchObject({
    answer: { finishReason: 'length' },
  });
});

test('CHAT-14 a complete response that ends blocked is content_filter for chat', async () => {
  const body = answer({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
  expect(codeOf(errorIn((await play(chatCall(), { body })).sent))).toBe('content_filter');
});

test('BILL-10 a complete response without usage has none', async () => {
  for (const call of [nativeCall(), chatCall()]) {
    for (const none of [undefined, null, {}, { input_tokens: -1, output_tokens: '1' }]) {
      expect(answerIn((await play(call, { body: answer({ usage: none }) })).sent).usage).toBeUndefined();
    }
  }
});

test.for([
  [{ input_tokens: 0, output_tokens: 0 }, [0, 0, 0, 0, 0, 0]],
  [{ input_tokens: 4 }, [4, 0, 0, 0, 0, 0]],
  [{ output_tokens: 0 }, [0, 0, 0, 0, 0, 0]],
  [{ input_tokens: -1, output_tokens: 0.5 }, [0, 0, 0, 0, 1, 0]],
  [{ input_tokens: 2 ** 60, output_tokens: 1 }, [Number.MAX_SAFE_INTEGER, 0, 0, 0, 1, 0]],
  [{ input_tokens: 9, output_tokens: 5, input_tokens_details: null, output_tokens_details: 'x' }, [9, 0, 0, 0, 5, 0]],
  [{ input_tokens: 9, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } }, [5, 4, 0, 0, 5, 0]],
  [
    {
      input_tokens: 9,
      output_tokens: 5,
      input_tokens_details: {
        cached_tokens: 4,
        cache_write_tokens: 3,
        cache_write_tokens_details: { ttl_30m_tokens: 1, ttl_12h_tokens: 2 },
      },
      output_tokens_details: { reasoning_tokens: 2 },
    },
    [2, 4, 3, 0, 3, 2],
  ],
  [
    {
      input_tokens: 9,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
      output_tokens_details: { reasoning_tokens: 50 },
    },
    [0, 8, 1, 0, 0, 5],
  ],
] as const)(
  'BILL-11 input_tokens includes cache reads and writes, output_tokens reasoning: %j',
  async ([reported, [input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning]]) => {
    const sent = answerIn((await play(nativeCall(), { body: answer({ usage: reported }) })).sent);
    expect(sent.usage).toEqual({ input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning });
  },
);

test.for([
  '',
  '<html>',
  '[]',
  'null',
  '{}',
  '{"output":{}}',
  '{"status":"in_progress","output":[]}',
  '{"status":"cancelled","output":[]}',
  answer().slice(0, -1),
])('ERR-9 200 with %s is upstream_error', async (body) => {
  for (const call of [nativeCall(), chatCall()]) {
    const { sent, discarded } = await play(call, { body });
    expect([codeOf(errorIn(sent)), discarded()]).toEqual(['upstream_error', 1]);
  }
});

test.for([
  [{ code: 'server_error', message: 'words' }, 'upstream_error', []],
  [{ code: 'invalid_prompt', message: 'words' }, 'content_filter', []],
  [{ code: 'rate_limit_exceeded', message: 'words' }, 'upstream_capacity', []],
  [{ code: 'insufficient_quota', message: 'words' }, 'service_unavailable', ['vendor_refused_us openai']],
  [null, 'upstream_error', []],
] as const)('ERR-3 and ERR-9 a failed response with status 200 and %j is %s', async ([error, code, notices]) => {
  for (const call of [nativeCall(), chatCall()]) {
    const played = await play(call, { body: answer({ status: 'failed', error, output: [] }) });
    expect([codeOf(errorIn(played.sent)), played.notices]).toEqual([code, notices]);
  }
});

const refusal = (param: string | null, code: string | null = null) => ({
  status: 400,
  body: JSON.stringify({ error: { message: 'words sk-vendor-canary', type: 'invalid_request_error', param, code } }),
});

test.for([
  ['input', 'messages'],
  ['input[0]', 'messages[0]'],
  ['input[3].content[0].text', 'messages[1]'],
  ['input[99]', 'messages'],
  ['max_output_tokens', 'max_completion_tokens'],
  ['reasoning.effort', 'reasoning_effort'],
  ['reasoning', 'reasoning_effort'],
  ['text.verbosity', 'verbosity'],
  ['text.format', 'response_format'],
  ['text.format.type', 'response_format'],
  ['text.format.schema', 'response_format.json_schema.schema'],
  ['tools[0].name', 'tools[0].function.name'],
  ['tools[1].parameters.properties.a', 'tools[1].function.parameters.properties.a'],
  ['tools', 'tools'],
  ['tool_choice', 'tool_choice'],
  ['temperature', 'temperature'],
  ['inputs', 'inputs'],
] as const)('ERR-9 an error about the provider’s %s names chat’s %s', async ([theirs, ours]) => {
  const param = 'messages[1]';
  const turns = [
    { role: 'system', text: 'x', param: 'messages[0]' },
    { role: 'assistant', text: 'y', toolCalls: [1, 2].map((n) => ({ id: `c${n}`, name: 'f', arguments: '' })), param },
  ] as const;
  const words = 'words [redacted]';
  expect(errorIn((await play(chatCall({ turns }), refusal(theirs))).sent)).toMatchObject({
    code: 'invalid_request_error',
    param: ours,
    message: `${ours}: ${words}`,
  });
  expect(errorIn((await play(nativeCall(), refusal(theirs))).sent)).toMatchObject({
    param: theirs,
    message: `${theirs}: ${words}`,
  });
});

test.for([
  [400, 'context_length_exceeded', 'context_length_exceeded', 'input', 'messages'],
  [401, 'invalid_api_key', 'service_unavailable', null, null],
  [404, 'model_not_found', 'model_unavailable', 'model', 'model'],
  [429, 'credit_balance_exhausted', 'service_unavailable', null, null],
  [503, 'server_is_overloaded', 'service_unavailable', null, null],
] as const)('ERR-9 status %i with %s is %s', async ([status, code, ours, nativeParam, chatParam]) => {
  for (const [call, param] of [
    [nativeCall({}, { stream: true }), nativeParam] as const,
    [chatCall(), chatParam] as const,
  ]) {
    const { sent } = await play(call, { ...refusal(null, code), status });
    expect(errorIn(sent)).toMatchObject({ code: ours, param });
  }
});

test('ERR-9 an input item that the provider does not find is the client’s fault', async () => {
  const { sent } = await play(nativeCall(), { ...refusal('input'), status: 404 });
  expect(errorIn(sent)).toMatchObject({ code: 'invalid_request_error', status: 400, param: 'input' });
});

test('CHAT-11 a stream is requested as events, read to its end and closed once', async () => {
  const body = fixture('responses-stream.sse');
  for (const [call, kind] of [
    [nativeCall({ input: 'Hi', stream: true }, { stream: true }), 'native'],
    [chatCall({}, { stream: true }), 'neutral'],
  ] as const) {
    const { sent, requests, discarded } = await play(call, { body });
    const stream = streamIn(sent);
    const events = await eventsOf(stream);
    stream.close();
    expect(new Set(events.map((event) => event.kind))).toEqual(new Set([kind, 'end']));
    expect(events.at(-1)).toMatchObject({ kind: 'end', ending: { kind }, usage });
    expect([discarded(), requests[0]?.headers.accept]).toEqual([1, 'text/event-stream']);
    expect(JSON.stringify(events)).not.toContain('gpt-6.2-sol-2026-11-17');
  }
});

test.for([
  ['included', 12],
  ['beside', 72],
  [undefined, 72],
] as const)(
  'BILL-11 with the row %s, a total above its parts is charged as %i output tokens',
  async ([row, tokens]) => {
    const text = answer({ usage: { input_tokens: 20, output_tokens: 12, total_tokens: 92 } });
    const provider = { reasoningTokens: row };
    for (const call of [nativeCall(), chatCall()]) {
      const { usage: counted } = answerIn(
        (await play({ ...call, provider: providerOf(provider) }, { body: text })).sent,
      );
      expect([(counted?.output ?? 0) + (counted?.reasoning ?? 0), counted?.totalDiffers]).toEqual([tokens, true]);
    }
  },
);

test('BILL-11 reasoning beside the completion of a chat is included in the output of responses', async () => {
  const provider = providerOf({ reasoningTokens: 'beside' });
  expect(answerIn((await play({ ...nativeCall(), provider }, { body: answer() })).sent).usage).toEqual(usage);
});
