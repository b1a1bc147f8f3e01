import { expect, test } from 'vitest';
import { framesIn, lastOf, OUR_MODEL, readResponses, streams, THEIR_MODEL, withOurs } from './responses-reading.ts';
import { cutAfter, fixture, inPieces } from './stream-reading.ts';

const usages = {
  'responses-stream.sse': { input: 20, cacheRead: 11, cacheWrite: 6, cacheWrite1h: 0, output: 12, reasoning: 8 },
  'responses-stream-tools.sse': { input: 83, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 41, reasoning: 23 },
  'responses-stream-refusal.sse': { input: 9, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 7, reasoning: 0 },
  'responses-stream-incomplete.sse': {
    input: 12,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: 16,
    reasoning: 0,
  },
} as const;

for (const name of streams) {
  const frames = framesIn(name);

  test(`RESP-1 ${name} passes byte for byte except for the model, its last event held back`, async () => {
    const { events, end, error, notices } = await readResponses('native', inPieces(fixture(name)));
    expect(events).toEqual(frames.slice(0, -1).map(withOurs));
    expect(end).toEqual({
      kind: 'end',
      ending: { kind: 'native', events: [withOurs(frames.at(-1) ?? '')] },
      usage: usages[name],
    });
    expect([error, notices]).toEqual([undefined, []]);
    expect(frames.join('')).toContain(THEIR_MODEL);
    expect(`${events.join('')}${JSON.stringify(end)}`).not.toContain(THEIR_MODEL);
  });

  test(`BILL-9 ${name} that ends before its last event is an error, at any point`, async () => {
    for (let sent = 0; sent < frames.length; sent += 1) {
      for (const cut of [cutAfter, inPieces]) {
        const read = await readResponses('native', cut(frames.slice(0, sent).join('')));
        expect(read.events).toHaveLength(sent);
        expect([sent, read.end, read.error?.code]).toEqual([sent, undefined, 'upstream_error']);
      }
    }
  });

  test(`BILL-9 ${name} broken after its last event ends regularly`, async () => {
    const read = await readResponses('native', cutAfter(frames.join('')));
    expect([read.error, read.end?.usage]).toEqual([undefined, usages[name]]);
  });
}

const frames = framesIn('responses-stream.sse');

test.for([
  null,
  undefined,
  {},
  { input_tokens: '37', output_tokens: -20 },
  { input_tokens_details: { cached_tokens: 3 } },
])('BILL-9 a last event with a usage of %j is not an end', async (usage) => {
  const { events, end, error } = await readResponses('native', inPieces(...frames.slice(0, -1), lastOf({ usage })));
  expect(events).toHaveLength(frames.length - 1);
  expect([end, error?.code]).toEqual([undefined, 'upstream_error']);
});

test.for([
  [
    { input_tokens: '37', output_tokens: 20 },
    { input: 0, output: 20 },
  ],
  [{ input_tokens: 37 }, { input: 37, output: 0 }],
] as const)('BILL-9, BILL-7 a last event with a usage of %j is an end and is charged', async ([usage, counted]) => {
  const { end, error } = await readResponses('native', inPieces(...frames.slice(0, -1), lastOf({ usage })));
  expect([end?.usage, error]).toMatchObject([counted, undefined]);
});

test('BILL-9 nothing is read after the last event, and [DONE] does not replace that event', async () => {
  const late = 'event: error\ndata: {"type":"error","message":"late"}\n\n';
  expect((await readResponses('native', inPieces(...frames, late))).error).toBeUndefined();
  expect((await readResponses('native', inPieces(`${frames.join('')}data: [DONE]\n\n`))).end).toBeDefined();
  const done = await readResponses('native', inPieces(...frames.slice(0, -1), 'data: [DONE]\n\n', frames.at(-1) ?? ''));
  expect([done.events.length, done.error?.code]).toEqual([frames.length - 1, 'upstream_error']);
});

test('CHAT-14 a response that the filter stopped passes with its usage', async () => {
  const last = lastOf(
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    'response.incomplete',
  );
  const { end } = await readResponses('native', inPieces(...frames.slice(0, -1), last));
  expect(end).toMatchObject({ ending: { events: [withOurs(last)] }, usage: usages['responses-stream.sse'] });
});

test('ERR-4 only events at the start of a stream are announcements', async () => {
  const tools = framesIn('responses-stream-tools.sse');
  expect((await readResponses('native', inPieces(...tools))).opening).toBe(3);
  const [created = '', queued = '', running = '', item = ''] = tools;
  const late = await readResponses('native', inPieces([created, item, running, queued].join('')));
  expect([late.opening, late.events]).toEqual([1, [created, item, running, queued].map(withOurs)]);
});

test('BILL-9 an event whose data does not repeat its name is read by its name', async () => {
  const bare = frames.map((frame) => frame.replace(/"type":"response\.[a-z_.]+",/, ''));
  for (const side of ['native', 'neutral'] as const) {
    const read = await readResponses(side, inPieces(...bare));
    expect([read.error, read.end?.usage, read.opening]).toEqual([undefined, usages['responses-stream.sse'], 2]);
  }
});

test('RESP-1 events without a name also pass, and the model is replaced wherever it is', async () => {
  const unnamed = frames.map((frame) => frame.replace(/^event: .*\n/, ''));
  const { events, end } = await readResponses('native', inPieces(...unnamed));
  expect(events).toEqual(unnamed.slice(0, -1).map(withOurs));
  expect(end?.ending).toEqual({ kind: 'native', events: [withOurs(unnamed.at(-1) ?? '')] });
  const response = { usage: null, model: THEIR_MODEL };
  for (const event of [
    { type: 'response.created', response },
    { other: { model: 'inner' }, response, type: 'response.created' },
  ]) {
    for (const data of [JSON.stringify(event), JSON.stringify(event, null, 1).replaceAll('\n', '\ndata: ')]) {
      const [passed = ''] = (await readResponses('native', inPieces(`data: ${data}\n\n`))).events;
      expect(passed).toMatch(/^data: .*\n\n$/);
      expect(JSON.parse(passed.slice(6))).toEqual({ ...event, response: { usage: null, model: OUR_MODEL } });
    }
  }
});

test('RESP-1 the client’s model, or no model, stays unchanged', async () => {
  for (const response of [{ model: OUR_MODEL }, { id: 'r' }]) {
    const frame = `event: response.created\ndata: {"response" : ${JSON.stringify(response)} , "x":{"model":"y"}}\n\n`;
    expect((await readResponses('native', inPieces(frame))).events).toEqual([frame]);
  }
});

test('RESP-1 an event is passed on before the next one is sent', async () => {
  let seen = 0;
  async function* oneByOne() {
    for (const [at, frame] of frames.entries()) {
      expect(seen).toBe(at);
      seen += 1;
      yield Buffer.from(frame);
    }
  }
  const passed = await readResponses('native', oneByOne());
  expect(passed.end).toBeDefined();
});

for (const side of ['native', 'neutral'] as const) {
  const running = { input_tokens: 900, output_tokens: 4, total_tokens: 904 };
  const counting = frames.map((frame) =>
    frame.startsWith('event: response.in_progress')
      ? frame.replace(/"usage":null/, `"usage":${JSON.stringify(running)}`)
      : frame,
  );

  test(`BILL-11 ${side}: the usage of an announcement is merged with that of the end`, async () => {
    const last = lastOf({ usage: { input_tokens: 0, output_tokens: 30, total_tokens: 30 } });
    const { end } = await readResponses(side, inPieces(...counting.slice(0, -1), last));
    expect(end?.usage).toMatchObject({ input: 900, output: 30 });
    const silent = await readResponses(side, inPieces(...counting.slice(0, -1), lastOf({ usage: null })));
    expect([silent.end, silent.error?.code]).toEqual([undefined, 'upstream_error']);
  });

  test(`BILL-21 ${side}: the usage so far is known before the end, and after a failure`, async () => {
    expect(counting).not.toEqual(frames);
    const cut = await readResponses(side, cutAfter(...counting.slice(0, -1)));
    expect([cut.end, cut.usageSoFar]).toEqual([undefined, expect.objectContaining({ input: 900, output: 4 })]);
    const error = { code: 'server_error', message: 'failed' };
    const failed = lastOf(
      { status: 'failed', error, usage: { input_tokens: 900, output_tokens: 77 } },
      'response.failed',
    );
    const read = await readResponses(side, inPieces(...frames.slice(0, -1), failed));
    expect(read.usageSoFar).toMatchObject({ input: 900, output: 77 });
    expect((await readResponses(side, cutAfter(...frames.slice(0, -1)))).usageSoFar).toBeUndefined();
  });
}
