import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { Ending, TextAnswer, TextDelta } from '../../../../lambdas/core/text/text-wire.ts';
import { StopCutter } from '../../../../lambdas/protocols/chat-completions/stop-cutter.ts';
import { toStopSequences } from '../../../../lambdas/protocols/chat-completions/stop-matcher.ts';

const cutter = () => new StopCutter(toStopSequences(['END']));
const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

const plain = (...choices: readonly JsonObject[]) =>
  ({ kind: 'answer', content: { kind: 'native', text: '', body: { id: 'x', choices } }, usage: undefined }) as const;
const choice = (index: number, content: string | null, more: JsonObject = {}): JsonObject => ({
  index,
  message: { role: 'assistant', content, ...more },
  logprobs: { content: [] },
  finish_reason: 'tool_calls',
});

test('CHAT-17 each choice of a plain response is cut alone, with its calls and log probabilities', () => {
  const whole = choice(1, 'aEN', { tool_calls: [call] });
  const cut = cutter();
  const { content } = cut.answer(plain(choice(0, 'aENDb', { tool_calls: [call] }), whole, choice(2, null)));
  expect(content.kind === 'native' && content.body.choices).toEqual([
    { index: 0, message: { role: 'assistant', content: 'a' }, logprobs: null, finish_reason: 'stop' },
    whole,
    choice(2, null),
  ]);
  expect(cut.hasCut).toBe(true);
});

test('CHAT-17 a plain response without the sequence is unchanged', () => {
  const answer = plain(choice(0, 'aEN'));
  const cut = cutter();
  expect([cut.answer(answer), cut.hasCut]).toEqual([answer, false]);
});

test('CHAT-17 a plain response of another provider protocol is cut', () => {
  const toolCalls = [{ id: 'call_1', name: 'f', arguments: '{}' }];
  const answer: TextAnswer = { text: 'aENDb', refusal: null, toolCalls, finishReason: 'tool_calls' };
  const { content } = cutter().answer({ kind: 'answer', content: { kind: 'neutral', answer }, usage: undefined });
  expect(content).toMatchObject({ answer: { text: 'a', toolCalls: [], finishReason: 'stop' } });
});

/** Streams the deltas and returns all that was sent, with the finish reason. */
const neutral = (pieces: readonly (readonly TextDelta[])[], finishReason: 'stop' | 'tool_calls' | 'length') => {
  const cut = cutter();
  const sent = pieces.flatMap((deltas) => cut.neutral(deltas));
  const sink = { native: () => undefined, neutral: (deltas: readonly TextDelta[]) => void sent.push(...deltas) };
  const last = cut.end({ kind: 'neutral', finishReason }, sink);
  return { sent, last, hasCut: cut.hasCut };
};
const said = (text: string): TextDelta => ({ kind: 'text', text });
const calls: TextDelta = { kind: 'tool_call', index: 0, id: 'call_1', name: 'f' };

test('CHAT-17 a stream of another provider protocol ends at the sequence, across pieces, without later calls', () => {
  expect(neutral([[said('aE')], [said('N'), said('Db')], [calls], [said('c')]], 'tool_calls')).toEqual({
    sent: [said('a')],
    last: { kind: 'neutral', finishReason: 'stop' },
    hasCut: true,
  });
});

test('CHAT-17 text that waits is sent before a call and at the end', () => {
  expect(neutral([[said('aE'), calls], [said('bEN')]], 'length')).toEqual({
    sent: [said('a'), said('E'), calls, said('b'), said('EN')],
    last: { kind: 'neutral', finishReason: 'length' },
    hasCut: false,
  });
});

const chunk = (index: number, delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}) => ({
  id: 'x',
  choices: [{ index, delta, logprobs: null, finish_reason }],
  ...more,
});

/** Streams the chunks and returns those that were sent, and the last one. */
const native = (chunks: readonly JsonObject[], event: JsonObject) => {
  const cut = cutter();
  const sent = cut.native(chunks.map((body) => JSON.stringify(body))).map((text): unknown => JSON.parse(text));
  const sink = {
    native: (events: readonly string[]) => void sent.push(...events.map((text) => JSON.parse(text))),
    neutral: () => undefined,
  };
  const last: Ending = cut.end({ kind: 'deferred', event, reportedUsage: { prompt_tokens: 1 } }, sink);
  return { sent, last };
};

test('CHAT-17 each choice of a stream ends at its sequence', () => {
  const { sent, last } = native(
    [
      chunk(0, { role: 'assistant', content: '' }),
      chunk(0, { content: 'aE' }),
      chunk(1, { content: 'bE' }),
      chunk(0, { content: 'NDc' }),
      chunk(0, { tool_calls: [call] }),
      chunk(1, { content: 'x' }),
      chunk(0, {}, 'tool_calls'),
    ],
    chunk(1, { content: 'EN' }, 'length', { usage: { prompt_tokens: 1 } }),
  );
  expect(sent).toEqual([
    chunk(0, { role: 'assistant', content: '' }),
    chunk(0, { content: 'a' }),
    chunk(1, { content: 'b' }),
    chunk(1, { content: 'Ex' }),
    chunk(0, {}, 'stop'),
    chunk(1, { content: 'EN' }),
  ]);
  expect(last).toEqual({
    kind: 'deferred',
    event: chunk(1, {}, 'length', { usage: { prompt_tokens: 1 } }),
    reportedUsage: { prompt_tokens: 1 },
  });
});

test('CHAT-17 a stream that is cut ends with the finish reason stop', () => {
  const { sent, last } = native([chunk(0, { content: 'aENDb' })], chunk(0, {}, 'length'));
  expect(sent).toEqual([chunk(0, { content: 'a' })]);
  expect(last).toMatchObject({ event: { choices: [{ finish_reason: 'stop' }] } });
});

test('CHAT-17 log probabilities of text that waits are not sent', () => {
  const body = { id: 'x', choices: [{ index: 0, delta: { content: 'aE' }, logprobs: { content: [{ token: 'aE' }] } }] };
  expect(JSON.stringify(native([body], chunk(0, {}, 'stop')).sent)).not.toContain('token');
});

test('CHAT-17 chunks without a part of the sequence are sent byte for byte', () => {
  const events = ['{"id": "x", "choices": [{"index":0,"delta":{"content":"hello"}}]}', '{"choices":[]}'];
  expect(cutter().native(events)).toEqual(events);
});
