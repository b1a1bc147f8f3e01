import { expect, test } from 'vitest';
import { nativeReader } from '../../../../lambdas/providers/anthropic/stream.ts';
import { readStream } from '../../../../lambdas/providers/read-stream.ts';
import {
  fixture,
  framesIn,
  inPieces,
  OUR_MODEL,
  readNative,
  readNeutral,
  sentOf,
  THEIR_MODEL,
  wholeFixtures,
} from './messages-reading.ts';

test.for(wholeFixtures)('MSG-1 %s passes byte for byte except for the model', async (name) => {
  const reading = await readNative(inPieces(fixture(name)));
  expect(reading.error).toBeUndefined();
  expect(sentOf(reading)).toBe(fixture(name).replace(THEIR_MODEL, OUR_MODEL));
});

test.for(wholeFixtures)('MSG-1 %s with the client’s model passes byte for byte', async (name) => {
  expect(sentOf(await readNative(inPieces(fixture(name)), THEIR_MODEL))).toBe(fixture(name));
});

const [start = '', ...rest] = framesIn(fixture('basic.sse'));

test.for([
  [
    'a member of that name before the message',
    '{"type": "message_start", "trace": {"message": {"x": 1}, "model": "claude-vendor-20260101"}, ',
  ],
  [
    'a string that looks like it',
    '{"type": "message_start", "note": "\\"message\\": {\\"model\\": \\"claude-vendor-20260101\\"}", ',
  ],
])('MSG-1 %s is not the model', async ([, head]) => {
  const odd = start.replace('{"type": "message_start", ', head ?? '');
  const reading = await readNative(inPieces(odd, ...rest));
  const at = odd.lastIndexOf(THEIR_MODEL);
  expect(sentOf(reading)).toBe([odd.slice(0, at), OUR_MODEL, odd.slice(at + THEIR_MODEL.length), ...rest].join(''));
});

test('MSG-1 a message without a model stays unchanged', async () => {
  const bare = start.replace(`"model": "${THEIR_MODEL}", `, '');
  expect(sentOf(await readNative(inPieces(bare, ...rest)))).toBe([bare, ...rest].join(''));
});

test('MSG-1 unknown event types pass, before and after the stop reason', async () => {
  const odd = 'event: message_note\ndata: {"type":"message_note"}\n\n';
  const frames = [start, odd, ...rest.slice(0, -1), odd, ...rest.slice(-1)];
  expect(sentOf(await readNative(inPieces(...frames)))).toBe(frames.join('').replace(THEIR_MODEL, OUR_MODEL));
});

test('MSG-1 events without names are read by their type', async () => {
  const bare = fixture('basic.sse').replaceAll(/^event: .*\n/gm, '');
  const reading = await readNative(inPieces(bare));
  expect(reading.end?.usage?.output).toBe(15);
  expect(sentOf(reading)).toBe(bare.replace(THEIR_MODEL, OUR_MODEL));
  expect((await readNeutral(inPieces(bare))).deltas).toHaveLength(2);
});

test('MSG-1 an event is passed on before the next one is sent', async () => {
  const frames = framesIn(fixture('basic.sse'));
  let seen = 0;
  async function* oneByOne() {
    for (const [at, frame] of frames.entries()) {
      if (at <= 6) expect(seen).toBe(at);
      yield Buffer.from(frame);
    }
  }
  const refusalContext = { retryAfterSeconds: 1, secret: 'x', notice: () => undefined };
  for await (const event of readStream(oneByOne(), nativeReader({ modelId: OUR_MODEL, refusalContext })))
    seen += event.kind === 'native' ? event.events.length : 0;
  expect(seen).toBe(6);
});

test('ERR-4 only events before any content are announcements', async () => {
  const { openings, lateOpening } = await readNative(inPieces(...framesIn(fixture('tool-use.sse'))));
  expect([openings, lateOpening]).toEqual([1, false]);
  const early = framesIn(fixture('tool-use.sse'));
  const pinged = await readNative(inPieces(early[0] ?? '', early[2] ?? '', ...early.slice(1)));
  expect([pinged.openings, pinged.lateOpening]).toEqual([2, false]);
  expect((await readNeutral(inPieces(fixture('basic.sse')))).openings).toBe(1);
});
