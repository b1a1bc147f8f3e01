import { expect, test } from 'vitest';
import { event, fixture, framesIn, inPieces, joined, readNeutral } from './messages-reading.ts';

const text = (said: string) => ({ kind: 'text', text: said });
const call = (index: number, id: string, name: string) => ({ kind: 'tool_call', index, id, name });
const args = (index: number, said: string) => ({ kind: 'tool_arguments', index, text: said });
const counts = (input: number, output: number, more: object = {}) => ({
  input,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output,
  reasoning: 0,
  ...more,
});

test.for([
  ['basic.sse', [text('Grüße 🌍, "model"!')], 'stop', counts(25, 15)],
  [
    'tool-use.sse',
    [
      text('Let me look.'),
      call(0, 'toolu_01T1x1fJ34qAmk2tNTrN7Up6', 'get_weather'),
      args(0, '{"location": "San Francisco, CA", "id": 12345678901234567890}'),
    ],
    'tool_calls',
    counts(472, 89),
  ],
  [
    'parallel-tools.sse',
    [
      call(0, 'toolu_01A', 'get_weather'),
      args(0, '{"location": "Oslo"}'),
      call(1, 'toolu_01B', 'get_time'),
      args(1, '{"zone": "CET"}'),
    ],
    'tool_calls',
    counts(600, 120),
  ],
  [
    'empty-input-tool.sse',
    [call(0, 'toolu_01Now', 'now'), args(0, '{}'), call(1, 'toolu_01Here', 'here'), args(1, '{}')],
    'tool_calls',
    counts(300, 33),
  ],
  ['thinking.sse', [text('It is 21.')], 'stop', counts(40, 15, { reasoning: 55 })],
  [
    'cache-usage.sse',
    [text('Kept.')],
    'stop',
    counts(7, 21, { cacheRead: 1000, cacheWrite: 1110, cacheWrite1h: 3110 }),
  ],
] as const)('CHAT-5 %s is read in the core’s terms', async ([name, deltas, finishReason, usage]) => {
  const reading = await readNeutral(inPieces(fixture(name)));
  expect(reading.error).toBeUndefined();
  expect(joined(reading.deltas)).toEqual(deltas);
  expect(reading.end).toEqual({ kind: 'end', ending: { kind: 'neutral', finishReason }, usage });
});

test.for([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['something_new', 'stop'],
] as const)('CHAT-10 the stop reason %s is %s', async ([reason, finishReason]) => {
  const frames = framesIn(fixture('basic.sse')).map((frame) => frame.replace('"end_turn"', `"${reason}"`));
  const { end } = await readNeutral(inPieces(...frames));
  expect(end?.ending).toEqual({ kind: 'neutral', finishReason });
});

test('CHAT-5 text at the start of a block is kept', async () => {
  const frames = framesIn(fixture('basic.sse'));
  frames[1] = event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'So: ' } });
  expect(joined((await readNeutral(inPieces(...frames))).deltas)).toEqual([text('So: Grüße 🌍, "model"!')]);
});

/** Events of a call whose input is in the start of its block. */
const startedWith = (input: unknown, ...pieces: string[]): string[] => {
  const frames = framesIn(fixture('basic.sse'));
  const block = { type: 'tool_use', id: 'toolu_1', name: 'find', input };
  return [
    ...frames.slice(0, 1),
    `event: content_block_start\ndata: ${JSON.stringify({ type: 'content_block_start', index: 0, content_block: block })}\n\n`,
    ...pieces.map((partial_json) =>
      event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }),
    ),
    event({ type: 'content_block_stop', index: 0 }),
    ...frames.slice(-2),
  ];
};

test('CHAT-5 arguments at the start of a block are kept, unless others follow', async () => {
  const big = JSON.rawJSON('12345678901234567890');
  const read = async (...frames: string[]) => joined((await readNeutral(inPieces(...frames))).deltas).at(-1);
  expect(await read(...startedWith({ q: 'Riga', id: big }))).toEqual(args(0, '{"q":"Riga","id":12345678901234567890}'));
  expect(await read(...startedWith({ q: 'Riga' }, '', '{"q":', '"Oslo"}'))).toEqual(args(0, '{"q":"Oslo"}'));
  for (const input of [undefined, null, '']) expect(await read(...startedWith(input))).toEqual(args(0, '{}'));
});

test('CHAT-5 fragments of blocks that are not client calls are dropped', async () => {
  const frames = framesIn(fixture('basic.sse'));
  const server = [
    event({
      type: 'content_block_start',
      index: 7,
      content_block: { type: 'server_tool_use', id: 's', name: 'x', input: {} },
    }),
    event({ type: 'content_block_delta', index: 7, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } }),
    event({ type: 'content_block_stop', index: 7 }),
  ];
  const { deltas } = await readNeutral(inPieces(...frames.slice(0, 1), ...server, ...frames.slice(1)));
  expect(joined(deltas)).toEqual([text('Grüße 🌍, "model"!')]);
});
