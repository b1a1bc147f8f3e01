import { expect, test } from 'vitest';
import {
  codeOf,
  cutAfter,
  event,
  fixture,
  framesIn,
  inPieces,
  MESSAGE_STOP,
  OUR_MODEL,
  readNative,
  readNeutral,
  sentOf,
  THEIR_MODEL,
  wholeFixtures,
} from './messages-reading.ts';

const readers = [
  ['native', readNative],
  ['neutral', readNeutral],
] as const;

const basic = framesIn(fixture('basic.sse'));
/** Index of the event with the stop reason and the usage. */
const LAST = basic.length - 2;
const basicCounts = { input: 25, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 15, reasoning: 0 };

for (const [protocol, read] of readers) {
  test.for(wholeFixtures.filter((name) => !name.startsWith('refusal')))(
    `BILL-9 ${protocol}: %s cut after any event is charged only after its final usage`,
    async (name) => {
      const frames = framesIn(fixture(name));
      const whole = await read(inPieces(...frames));
      expect(whole.end?.usage).toBeDefined();
      for (let sent = 0; sent < frames.length; sent += 1) {
        for (const body of [cutAfter(...frames.slice(0, sent)), inPieces(...frames.slice(0, sent))]) {
          const { end, error } = await read(body);
          const expected = sent === frames.length - 1 ? [whole.end?.usage, undefined] : [undefined, 'upstream_error'];
          expect([sent, end?.usage, error && codeOf(error)]).toEqual([sent, ...expected]);
        }
      }
    },
  );

  const withoutUsage = [
    ...basic.slice(0, LAST),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null } }),
    MESSAGE_STOP,
  ];

  test(`BILL-10 ${protocol}: a regular end without a final usage has no usage`, async () => {
    const { end, error } = await read(inPieces(...withoutUsage));
    expect([error, end?.usage, end !== undefined]).toEqual([undefined, undefined, true]);
  });

  test(`BILL-9 ${protocol}: a stream cut after a stop reason without usage is an error`, async () => {
    const { end, error } = await read(cutAfter(...withoutUsage.slice(0, -1)));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  });

  test(`BILL-9 ${protocol}: a usage before the stop reason is not final`, async () => {
    const running = event({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 9 } });
    const early = [...basic.slice(0, LAST), running, ...withoutUsage.slice(LAST)];
    expect(codeOf((await read(cutAfter(...early.slice(0, -1)))).error)).toBe('upstream_error');
    expect((await read(inPieces(...early))).end).toMatchObject({ usage: undefined });
  });

  test(`BILL-9 ${protocol}: an end without a stop reason is an error`, async () => {
    const { end, error } = await read(inPieces(...basic.slice(0, LAST), MESSAGE_STOP));
    expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
  });

  test(`BILL-9 ${protocol}: nothing is read after message_stop`, async () => {
    const late = event({ type: 'error', error: { type: 'api_error', message: 'late' } });
    const { end, error } = await read(inPieces(...basic, late));
    expect([error, end?.usage]).toEqual([undefined, basicCounts]);
  });

  test(`BILL-9 ${protocol}: a stream cut inside the event with the usage has no usage`, async () => {
    const text = basic.slice(0, LAST + 1).join('');
    for (const cut of [text.slice(0, -1), text.slice(0, -2), text.slice(0, -40)]) {
      const { end, error } = await read(cutAfter(cut));
      expect([end, codeOf(error)]).toEqual([undefined, 'upstream_error']);
    }
  });

  test(`BILL-7 ${protocol}: an invalid count does not change earlier counts`, async () => {
    const odd = basic.map((frame) => frame.replace('"output_tokens": 15', '"output_tokens": "15"'));
    const { input } = basicCounts;
    expect(input).toBeGreaterThan(0);
    expect((await read(inPieces(...odd))).end).toMatchObject({ kind: 'end', usage: { input, output: 1 } });
  });

  test(`BILL-10 ${protocol}: an end without any usage has none`, async () => {
    const silent = basic.map((frame) => frame.replace(/"usage": ?\{"output_tokens": 15\}/, '"usage": {}'));
    expect(silent).not.toEqual(basic);
    expect((await read(inPieces(...silent))).end).toMatchObject({ kind: 'end', usage: undefined });
    expect(codeOf((await read(cutAfter(...silent.slice(0, -1)))).error)).toBe('upstream_error');
  });

  test(`BILL-11 ${protocol}: a later count that is zero or missing erases no earlier one`, async () => {
    const usage = { input_tokens: 1_200, cache_read_input_tokens: 5, output_tokens: 1 };
    const start = event({ type: 'message_start', message: { model: THEIR_MODEL, usage } });
    for (const later of [{ input_tokens: 0, cache_read_input_tokens: 0 }, { input_tokens: null }, {}]) {
      const delta = { stop_reason: 'end_turn' };
      const last = event({ type: 'message_delta', delta, usage: { ...later, output_tokens: 47 } });
      const { end } = await read(inPieces(start, ...basic.slice(1, LAST), last, MESSAGE_STOP));
      expect(end?.usage).toEqual({ ...basicCounts, input: 1_200, cacheRead: 5, output: 47 });
    }
  });

  test(`BILL-21 ${protocol}: the usage so far is known before the end`, async () => {
    const cut = await read(cutAfter(...basic.slice(0, LAST)));
    expect([cut.end, cut.usageSoFar]).toEqual([undefined, { ...basicCounts, output: 1 }]);
    expect((await read(cutAfter())).usageSoFar).toBeUndefined();
  });

  test(`BILL-9 ${protocol}: the counts of a later message_delta replace earlier ones`, async () => {
    const more = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 18 } });
    const { end } = await read(inPieces(...basic.slice(0, -1), more, MESSAGE_STOP));
    expect(end?.usage).toEqual({ ...basicCounts, output: 18 });
  });
}

test('BILL-9 only message_stop is added to a stream that is cut just before it', async () => {
  for (const name of wholeFixtures) {
    const frames = framesIn(fixture(name));
    const cut = await readNative(cutAfter(...frames.slice(0, -1)));
    expect(sentOf(cut)).toBe([...frames.slice(0, -1), MESSAGE_STOP].join('').replace(THEIR_MODEL, OUR_MODEL));
  }
});

test('BILL-9 events from the stop reason on are sent only after the charge', async () => {
  const { native, end } = await readNative(inPieces(...basic));
  expect(native).toHaveLength(LAST);
  expect(end?.ending).toEqual({ kind: 'native', events: basic.slice(LAST) });
});

test('CHAT-14 in its own protocol a refusal is a result with usage', async () => {
  for (const name of ['refusal.sse', 'refusal-at-once.sse']) {
    const { end, error } = await readNative(inPieces(fixture(name)));
    expect([error, end?.usage?.input]).toEqual([undefined, 30]);
  }
});

test('CHAT-14 in another protocol a refusal is an error only before content, or without usage', async () => {
  const late = await readNeutral(inPieces(fixture('refusal.sse')));
  expect([late.deltas, late.error]).toEqual([[{ kind: 'text', text: 'Hello..' }], undefined]);
  expect(late.end).toMatchObject({ ending: { finishReason: 'content_filter' }, usage: { input: 30 } });
  const uncounted = fixture('refusal.sse').replaceAll('"usage"', '"no_usage"');
  expect(codeOf((await readNeutral(inPieces(uncounted))).error)).toBe('content_filter');
  const early = await readNeutral(inPieces(fixture('refusal-at-once.sse')));
  expect([early.deltas, early.openings, codeOf(early.error)]).toEqual([[], 1, 'content_filter']);
});
