import { expect, test } from 'vitest';
import { codeOf, eventsIn, fixture, inPieces, readAll, textIn, toSse } from './stream-reading.ts';

const read = (text: string) => readAll(inPieces(text), 'chat_completions');

test('CHAT-11 text arrives in pieces', async () => {
  const { deltas, end } = await read(fixture('text'));
  expect(deltas).toHaveLength(4);
  expect(textIn(deltas)).toBe(
    'Grüße, 🌍 日本\n{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1},"error":{}}\r\n\ncafé <b>.',
  );
  expect(end?.ending).toEqual({ kind: 'neutral', finishReason: 'stop' });
});

test('CHAT-11 thoughts are not part of the text, and only announce it', async () => {
  const { deltas, openings, end } = await read(fixture('thinking'));
  expect([textIn(deltas), openings]).toEqual(['Forty-two.', 1]);
  expect(end?.usage).toMatchObject({ input: 8, output: 4, reasoning: 52 });
});

test('CHAT-5 a call arrives complete, with its own id and its signature', async () => {
  const { deltas, end } = await read(fixture('function-call'));
  const args =
    '{"error":{"code":500},"finishReason":"STOP","usageMetadata":{"promptTokenCount":1},"note":"a \\"b\\" ü"}';
  expect(deltas).toEqual([
    { kind: 'tool_call', index: 0, id: 'fk2x9a1c', name: 'log_event', signature: 'CiQBVKhc7l5mzk==' },
    { kind: 'tool_arguments', index: 0, text: args },
  ]);
  expect(end?.ending).toEqual({ kind: 'neutral', finishReason: 'tool_calls' });
});

test('CHAT-5 parallel calls are numbered, and get stable ids if the provider sends none', async () => {
  const { deltas, end } = await read(fixture('parallel-calls'));
  expect(deltas).toEqual([
    { kind: 'text', text: 'Both together.' },
    { kind: 'tool_call', index: 0, id: 'call_gw_pc-1_0', name: 'get_weather', signature: 'AdHgk2w=' },
    { kind: 'tool_arguments', index: 0, text: '{"city":"Paris"}' },
    { kind: 'tool_call', index: 1, id: 'call_gw_pc-1_1', name: 'get_weather' },
    { kind: 'tool_arguments', index: 1, text: '{"city":"London"}' },
    { kind: 'tool_call', index: 2, id: 'call_gw_pc-1_2', name: 'get_time' },
    { kind: 'tool_arguments', index: 2, text: '{}' },
  ]);
  expect(end?.ending).toEqual({ kind: 'neutral', finishReason: 'tool_calls' });
});

test.for([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
] as const)('CHAT-11 finish reason %s is %s', async ([theirs, ours]) => {
  const { end } = await read(
    fixture('text').replace('"finishReason":"STOP","index"', `"finishReason":"${theirs}","index"`),
  );
  expect(end?.ending).toEqual({ kind: 'neutral', finishReason: ours });
});

test.for(['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'])(
  'CHAT-14 finish reason %s after content is content_filter',
  async (reason) => {
    const { end, error } = await read(
      fixture('text').replace('"finishReason":"STOP","index"', `"finishReason":"${reason}","index"`),
    );
    expect([end?.ending, error]).toEqual([{ kind: 'neutral', finishReason: 'content_filter' }, undefined]);
  },
);

const brokenReasons = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'MALFORMED_RESPONSE',
  'OTHER',
  'of an unknown kind',
] as const;

const chunk = (parts: readonly object[], finishReason?: string) =>
  JSON.stringify({
    candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3 },
    responseId: 'r',
  });
const word = { text: 'word' };
const thought = { text: 'hm', thought: true };
const call = { functionCall: { id: 'c', name: 'f', args: {} } };

for (const reason of brokenReasons) {
  test.for([
    ['text', 'length', [chunk([word]), chunk([], reason)]],
    ['text with it', 'length', [chunk([word], reason)]],
    ['a call', 'length', [chunk([call]), chunk([], reason)]],
    ['text and a call', 'length', [chunk([word]), chunk([call], reason)]],
  ] as const)(
    `CHAT-14, BILL-9 finish reason ${reason} after %s is %s and is charged`,
    async ([, finishReason, sent]) => {
      const { end, error } = await read(toSse(sent));
      expect([end?.ending, error]).toEqual([{ kind: 'neutral', finishReason }, undefined]);
      expect(end?.usage).toMatchObject({ input: 9, output: 3 });
    },
  );

  test(`CHAT-14 finish reason ${reason} is upstream_error without content`, async () => {
    for (const sent of [[chunk([], reason)], [chunk([thought]), chunk([{ text: '' }], reason)]]) {
      const { end, error } = await read(toSse(sent));
      expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
      expect(error).toMatchObject({ ignoredByCircuit: true });
    }
  });
}

test('ERR-9 an unreadable part is upstream_error', async () => {
  const [first = ''] = eventsIn(fixture('function-call'));
  const nameless = first.replace('"name":"log_event",', '');
  expect(codeOf((await read(toSse([nameless]))).error)).toBe('upstream_error');
  const passed = await readAll(inPieces(toSse([nameless])), 'generate_content');
  expect(passed.native).toEqual([nameless]);
});

test('CHAT-11 a first chunk without content is an announcement, later ones are dropped', async () => {
  const [usage = '', ...rest] = eventsIn(fixture('usage-alone'));
  const neutral = await read(toSse([usage, ...rest]));
  expect([neutral.openings, textIn(neutral.deltas)]).toEqual([1, 'One two']);
  const native = await readAll(inPieces(toSse([usage, ...rest])), 'generate_content');
  expect([native.openings, native.native[0]]).toEqual([1, usage]);
});
