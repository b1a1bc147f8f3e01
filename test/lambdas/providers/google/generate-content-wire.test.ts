import { expect, test } from 'vitest';
import { UnchargedOutput } from '../../../../lambdas/core/text/uncollected-text.ts';
import { calledFunctions, generatedContent } from '../../../fixtures/google/generated-content.ts';
import { codeOf, fixture } from './stream-reading.ts';
import {
  answerOf,
  conversationOf,
  dispatch,
  nativeBody,
  type Played,
  sentBody,
  wireCall,
  wireTo,
} from './wire-call.ts';

const chat = () => wireCall({ conversation: conversationOf() });
const counts = { input: 15, cacheRead: 4, cacheWrite: 0, cacheWrite1h: 0, output: 10, reasoning: 12 };

const thrown = async (played: Played, call = wireCall()): Promise<string> => {
  try {
    await wireTo(played).wire.buildCall(call).send(dispatch());
    return 'nothing';
  } catch (error) {
    return codeOf(error);
  }
};

const candidateWith = (changes: object) =>
  JSON.stringify({ ...generatedContent, candidates: [{ ...generatedContent.candidates[0], ...changes }] });

test('GEN-5 a call is one request to the model’s URL with the provider key', async () => {
  const { wire, seen } = wireTo({ body: JSON.stringify(generatedContent) });
  const prepared = wire.buildCall(wireCall());
  expect(seen.requests).toEqual([]);
  await prepared.send(dispatch());
  expect(seen.requests).toHaveLength(1);
  expect(seen.requests[0]).toMatchObject({
    url: 'https://vendor.test/v1beta/models/vendor-name:generateContent',
    headers: { 'x-goog-api-key': 'sk-vendor-canary', accept: 'application/json' },
  });
});

test('BILL-6 only the cap of a native body changes', async () => {
  const config = { temperature: 1, maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 7, includeThoughts: true } };
  const body = { ...nativeBody, generationConfig: config, safetySettings: [{ category: 'a', threshold: 'b' }] };
  const { wire, seen } = wireTo({ body: JSON.stringify(generatedContent) });
  await wire.buildCall(wireCall({ body })).send(dispatch({ outputTokensMax: 77 }));
  expect(sentBody(seen)).toEqual({ ...body, generationConfig: { ...config, maxOutputTokens: 77 } });
});

test('BILL-6 the cap is always sent', async () => {
  for (const call of [wireCall(), chat()]) {
    const { wire, seen } = wireTo({ body: JSON.stringify(generatedContent) });
    await wire.buildCall(call).send(dispatch({ outputTokensMax: 77 }));
    expect(sentBody(seen)).toMatchObject({ generationConfig: { maxOutputTokens: 77 } });
  }
});

test('CHAT-3 a chat completion with more than one choice is rejected', () => {
  const call = wireCall({ conversation: conversationOf(), choices: 2 });
  expect(() => wireTo({}).wire.buildCall(call)).toThrow(
    expect.objectContaining({ code: 'unprocessable_entity', param: 'n' }),
  );
});

test('GEM-1 a complete response passes unchanged, with its counts', async () => {
  const text = JSON.stringify(generatedContent, null, 2);
  const { content, usage } = answerOf(await wireTo({ body: text }).wire.buildCall(wireCall()).send(dispatch()));
  expect(content).toEqual({ kind: 'native', text, body: generatedContent });
  expect(usage).toEqual(counts);
});

test('GEM-1 a blocked prompt and a blocked response are results for a client of this protocol', async () => {
  const prompt = JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } });
  for (const body of [prompt, candidateWith({ finishReason: 'SAFETY', content: undefined })]) {
    const answer = answerOf(await wireTo({ body }).wire.buildCall(wireCall()).send(dispatch()));
    expect(answer.content).toMatchObject({ kind: 'native', text: body });
    expect(answer.usage).toBeDefined();
  }
});

test('CHAT-10 a complete response is converted to chat’s terms', async () => {
  const { content, usage } = answerOf(
    await wireTo({ body: JSON.stringify(generatedContent) })
      .wire.buildCall(chat())
      .send(dispatch()),
  );
  expect(content).toEqual({
    kind: 'neutral',
    answer: { text: 'Good day.', refusal: null, toolCalls: [], finishReason: 'stop' },
  });
  expect(usage).toEqual(counts);
});

test('CHAT-5 calls have their ids, signatures and arguments; thoughts are not text', async () => {
  const { content } = answerOf(
    await wireTo({ body: JSON.stringify(calledFunctions) })
      .wire.buildCall(chat())
      .send(dispatch()),
  );
  expect(content).toMatchObject({
    answer: {
      text: null,
      toolCalls: [
        { id: 'k3j2h1', name: 'get_weather', arguments: '{"city":"Paris"}', signature: 'AdHgk2w=' },
        { id: 'call_gw_mIVdaYqzEZ_kvdIP7tCOuQg_1', name: 'get_time', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
    },
  });
});

test('CHAT-10 a response used up by thoughts is empty text with the finish reason length', async () => {
  const body = candidateWith({ finishReason: 'MAX_TOKENS', content: { role: 'model' } });
  const { content } = answerOf(await wireTo({ body }).wire.buildCall(chat()).send(dispatch()));
  expect(content).toMatchObject({ answer: { text: '', finishReason: 'length' } });
});

test.for([
  [JSON.stringify({ promptFeedback: { blockReason: 'OTHER' } }), 'content_filter'],
  [candidateWith({ finishReason: 'PROHIBITED_CONTENT' }), 'content_filter'],
  [candidateWith({ finishReason: 'MALFORMED_FUNCTION_CALL', content: undefined }), 'upstream_error'],
  [candidateWith({ finishReason: 'NEW', content: { parts: [{ text: 'hm', thought: true }] } }), 'upstream_error'],
  [candidateWith({ finishReason: undefined }), 'upstream_error'],
  [candidateWith({ content: { parts: [{ functionCall: {} }] } }), 'upstream_error'],
] as const)('CHAT-14 for chat %s is %s', async ([body, code]) => {
  expect(await thrown({ body }, chat())).toBe(code);
});

test.for([
  [JSON.stringify({ promptFeedback: { blockReason: 'OTHER' } }), false],
  [candidateWith({ finishReason: 'MALFORMED_FUNCTION_CALL', content: undefined }), true],
  [candidateWith({ finishReason: 'UNEXPECTED_TOOL_CALL', content: {} }), true],
  [candidateWith({ finishReason: undefined }), true],
  [JSON.stringify({ ...generatedContent, candidates: [] }), true],
  ['<html>', false],
] as const)('FALL-1 the circuit ignores an end that a prompt can cause: %s, %s', async ([body, isIgnored]) => {
  const sending = wireTo({ body }).wire.buildCall(chat()).send(dispatch());
  await expect(sending).rejects.toMatchObject({ ignoredByCircuit: isIgnored });
});

test.for([{ candidates: [] }, { candidates: [{ index: 0, content: { parts: [] } }] }])(
  'BILL-21 a response without output is uncharged output if it has counts of output: %j',
  async (body) => {
    for (const [counts, reasoning] of [
      [{ thoughtsTokenCount: 900 }, 900],
      [{}, undefined],
    ] as const) {
      const usageMetadata = { promptTokenCount: 7, ...counts };
      const { wire } = wireTo({ body: JSON.stringify({ ...generatedContent, ...body, usageMetadata }) });
      const error: unknown = await wire
        .buildCall(chat())
        .send(dispatch())
        .catch((thrown: unknown) => thrown);
      expect(error instanceof UnchargedOutput ? error.usage?.reasoning : undefined).toBe(reasoning);
    }
  },
);

test.for([
  [[{ text: 'Good day.' }], 'length'],
  [[{ functionCall: { id: 'c', name: 'f', args: {} } }], 'length'],
] as const)('CHAT-14 content before a premature end is returned and charged: %j', async ([parts, ended]) => {
  for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'of an unknown kind']) {
    const body = candidateWith({ finishReason, content: { role: 'model', parts } });
    const { content, usage } = answerOf(await wireTo({ body }).wire.buildCall(chat()).send(dispatch()));
    expect(content).toMatchObject({ answer: { finishReason: ended } });
    expect(usage).toEqual(counts);
  }
});

test('BILL-10 a complete response without usage has none', async () => {
  for (const call of [wireCall(), chat()]) {
    const body = JSON.stringify({ ...generatedContent, usageMetadata: undefined });
    expect(answerOf(await wireTo({ body }).wire.buildCall(call).send(dispatch())).usage).toBeUndefined();
  }
});

test.for([
  '',
  '<html>',
  '[]',
  '"text"',
  'null',
  '{}',
  '{"candidates":[]}',
  '{"candidates":[1]}',
  '{"candidates":"x"}',
  '{"candidates":[{',
])('ERR-9 200 with %s is upstream_error', async (body) => {
  expect(await thrown({ body })).toBe('upstream_error');
  expect(await thrown({ body }, chat())).toBe('upstream_error');
});

test.for([
  [
    { code: 429, message: 'Your prepayment credits are depleted.', status: 'RESOURCE_EXHAUSTED' },
    'service_unavailable',
  ],
  [{ code: 503, message: 'overloaded', status: 'UNAVAILABLE' }, 'service_unavailable'],
  [{ code: 400, message: 'bad', status: 'INVALID_ARGUMENT' }, 'invalid_request_error'],
  [{ message: 'oops' }, 'upstream_error'],
] as const)('ERR-9 an error with status 200 is an error: %j', async ([error, code]) => {
  expect(await thrown({ body: JSON.stringify({ error }) })).toBe(code);
  expect(await thrown({ body: JSON.stringify([{ error }]) }, chat())).toBe(code);
});

test('ERR-9 the rejection of a stream is read as an error, also if it is inside a list', async () => {
  const error = { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED', details: [{ retryDelay: '12s' }] };
  const played = { status: 429, body: JSON.stringify([{ error }]) };
  const sent = wireTo(played)
    .wire.buildCall(wireCall({ stream: true }))
    .send(dispatch());
  await expect(sent).rejects.toMatchObject({ code: 'upstream_capacity', retryAfterSeconds: 12 });
  const { wire, seen } = wireTo({ status: 401, body: 'sk-vendor-canary' });
  await expect(wire.buildCall(wireCall()).send(dispatch())).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(seen.notices).toEqual(['vendor_refused_us google']);
});

test('GEM-2 a stream is requested as events, read to its end and closed once', async () => {
  for (const call of [wireCall({ stream: true }), wireCall({ stream: true, conversation: conversationOf() })]) {
    const { wire, seen } = wireTo({ body: fixture('crlf') });
    const sent = await wire.buildCall(call).send(dispatch());
    if (sent.kind !== 'stream') throw new Error('expected a stream');
    const kinds: string[] = [];
    for (let next = await sent.events.next(); !next.done; next = await sent.events.next()) kinds.push(next.value.kind);
    sent.close();
    const piece = call.protocol === 'generate_content' ? 'native' : 'neutral';
    expect([kinds, seen.discarded]).toEqual([[piece, 'end'], 1]);
    expect(seen.requests[0]?.url).toBe('https://vendor.test/v1beta/models/vendor-name:streamGenerateContent?alt=sse');
    expect(seen.requests[0]?.headers.accept).toBe('text/event-stream');
  }
});
