import { expect, test } from 'vitest';
import { frameOf, framesIn, lastOf, readResponses, streams } from './responses-reading.ts';
import { cutAfter, fixture, inPieces } from './stream-reading.ts';

const text = (piece: string) => ({ kind: 'text', text: piece });
const call = (index: number, id: string, name: string) => ({ kind: 'tool_call', index, id, name });
const json = (index: number, piece: string) => ({ kind: 'tool_arguments', index, text: piece });

const expected = {
  'responses-stream.sse': {
    deltas: ['Grüße ', '🌍 and [DONE], ', '"model":"inner"', '.\n\nBye'].map(text),
    finishReason: 'stop',
    opening: 2,
  },
  'responses-stream-tools.sse': {
    deltas: [
      text('Let me look.'),
      call(0, 'call_7Xw1AYeLkSkYUuD6wAK8T7yT', 'get_weather'),
      json(0, '{"ci'),
      call(1, 'call_9fJ2mZbRk0Qd4cTn6VYxP1Ls', 'get_time'),
      json(0, 'ty":"Zür'),
      json(1, '{'),
      json(0, 'ich"}'),
      json(1, '}'),
    ],
    finishReason: 'tool_calls',
    opening: 3,
  },
  'responses-stream-refusal.sse': {
    deltas: ['I cannot ', 'help with that.'].map((piece) => ({ kind: 'refusal', text: piece })),
    finishReason: 'stop',
    opening: 2,
  },
  'responses-stream-incomplete.sse': { deltas: ['Once ', 'upon'].map(text), finishReason: 'length', opening: 2 },
} as const;

for (const name of streams) {
  const frames = framesIn(name);
  const { finishReason, ...read } = expected[name];

  test(`CHAT-5 ${name} is read in chat’s terms`, async () => {
    const reading = await readResponses('neutral', inPieces(fixture(name)));
    expect(reading).toMatchObject({ ...read, events: [], error: undefined, notices: [] });
    expect(reading.end).toMatchObject({
      ending: { kind: 'neutral', finishReason },
      usage: { input: expect.any(Number) },
    });
  });

  test(`BILL-9 ${name} cut off before its last event, at any point, is an error for chat`, async () => {
    for (let sent = 0; sent < frames.length; sent += 1) {
      for (const cut of [cutAfter, inPieces]) {
        const { deltas, end, error } = await readResponses('neutral', cut(frames.slice(0, sent).join('')));
        expect(read.deltas.slice(0, deltas.length)).toEqual(deltas);
        expect([sent, end, error?.code]).toEqual([sent, undefined, 'upstream_error']);
      }
    }
    expect((await readResponses('neutral', cutAfter(frames.join('')))).end?.usage).toBeDefined();
  });
}

const frames = framesIn('responses-stream.sse');
const tools = framesIn('responses-stream-tools.sse');

test('BILL-9 a last event without usage is not an end for chat', async () => {
  const { end, error } = await readResponses('neutral', inPieces(...frames.slice(0, -1), lastOf({ usage: null })));
  expect([end, error?.code]).toEqual([undefined, 'upstream_error']);
});

test('CHAT-14 a response that the filter stopped is an error only before its content', async () => {
  const last = lastOf(
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    'response.incomplete',
  );
  const before = await readResponses('neutral', inPieces(...frames.slice(0, 2), last));
  expect([before.deltas, before.opening, before.error?.code]).toEqual([[], 2, 'content_filter']);
  const after = await readResponses('neutral', inPieces([...frames.slice(0, -1), last].join('')));
  expect([after.deltas.length, after.error]).toEqual([4, undefined]);
  expect(after.end?.ending).toEqual({ kind: 'neutral', finishReason: 'content_filter' });
  expect(after.end?.usage).toBeDefined();
});

test.for(['max_output_tokens', 'something_new', undefined])(
  'CHAT-10 a response that is incomplete for %s ends with length',
  async (reason) => {
    const last = lastOf({ status: undefined, incomplete_details: reason ? { reason } : null }, 'response.incomplete');
    const { end } = await readResponses('neutral', inPieces(...frames.slice(0, -1), last));
    expect(end?.ending).toEqual({ kind: 'neutral', finishReason: 'length' });
  },
);

test('CHAT-5 arguments that do not arrive in pieces are read from the item', async () => {
  const unsaid = tools.filter((frame) => !frame.startsWith('event: response.function_call_arguments.delta'));
  const whole = (await readResponses('neutral', inPieces(...unsaid))).deltas.slice(1);
  expect(whole).toEqual([
    call(0, 'call_7Xw1AYeLkSkYUuD6wAK8T7yT', 'get_weather'),
    call(1, 'call_9fJ2mZbRk0Qd4cTn6VYxP1Ls', 'get_time'),
    json(0, '{"city":"Zürich"}'),
    json(1, '{}'),
  ]);
  const unbegun = unsaid.filter((frame) => !frame.startsWith('event: response.output_item.added'));
  expect((await readResponses('neutral', inPieces(...unbegun))).deltas.slice(1)).toEqual([
    whole[0],
    whole[2],
    whole[1],
    whole[3],
  ]);
});

test.for([
  frameOf({ type: 'response.output_text.delta', delta: 7 }),
  frameOf({ type: 'response.function_call_arguments.delta', output_index: 9, delta: '{' }),
  frameOf({ type: 'response.output_item.added', output_index: 0, item: { type: 'function_call', name: 'f' } }),
  'event: response.output_text.delta\ndata: {"delta":\n\n',
  'event: response.refusal.delta\ndata: []\n\n',
  frameOf({ type: 'response.completed' }),
])('ERR-9 %j is unreadable', async (frame) => {
  const { deltas, error } = await readResponses('neutral', inPieces(`${frames.slice(0, 7).join('')}${frame}`));
  expect([deltas.length, error?.code]).toEqual([1, 'upstream_error']);
});

test('CHAT-5 events that chat does not show are skipped', async () => {
  const news = [
    frameOf({ type: 'response.reasoning_text.delta', delta: 'hidden' }),
    frameOf({ type: 'response.something_new', delta: 'x' }),
    frameOf({ type: 'response.output_item.added', output_index: 5, item: { type: 'reasoning' } }),
    'data: {"note":"no type"}\n\n',
  ];
  const { deltas, error } = await readResponses('neutral', inPieces(...frames.slice(0, -1), ...news, lastOf({})));
  expect([deltas, error]).toEqual([expected['responses-stream.sse'].deltas, undefined]);
});
