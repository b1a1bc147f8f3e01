import { expect, test } from 'vitest';
import { frameLengthMax, framesOf } from '../../../lambdas/providers/read-stream.ts';
import { forms, longLines } from '../../fixtures/sse/forms.ts';
import { allFrames, byteByByte, bytesOf, cutAt, eventsOf, parsedAlone } from '../../fixtures/sse/pieces.ts';
import { vendors } from '../../fixtures/sse/vendors.ts';

const all = [...forms, ...vendors, ...longLines];

test.each(all)('CHAT-11 events pass unchanged: $name', async ({ wire, sent, events }) => {
  const frames = await allFrames(cutAt(bytesOf(wire), []));
  expect(eventsOf(frames)).toEqual(events);
  expect(parsedAlone(wire)).toEqual(events);
  expect(frames.map(({ text }) => text).join('')).toBe(sent);
  for (const { text, event, data } of frames) expect(parsedAlone(text)).toEqual([[event, data]]);
});

test.each([...forms, ...vendors])('CHAT-11 events survive every single cut: $name', async ({ wire, events, sent }) => {
  const bytes = bytesOf(wire);
  const cuts = Array.from({ length: bytes.length }, (_, cut) => cutAt(bytes, [cut]));
  for (const pieces of [byteByByte(bytes), ...cuts]) {
    const frames = await allFrames(pieces);
    if (JSON.stringify(eventsOf(frames)) !== JSON.stringify(events)) expect(eventsOf(frames)).toEqual(events);
    expect(frames.map(({ text }) => text).join('')).toBe(sent);
  }
});

test.each(['\n', '\r', '\r\n'])('CHAT-11 an event arrives with the %j that completes it', async (lineEnd) => {
  let asked = 0;
  const body = async function* () {
    for (const word of ['1', '2', '3']) {
      asked += 1;
      yield* byteByByte(bytesOf(`event: e${lineEnd}data: ${word}${lineEnd}${lineEnd}`));
    }
  };
  for await (const frames of framesOf(body())) expect(frames.map(({ data }) => data)).toEqual([String(asked)]);
  expect(asked).toBe(3);
});

test('CHAT-11 events of one piece arrive together, and a piece that completes no event has none', async () => {
  const bytes = bytesOf('data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\r\n\r\ndata: 5\n\n: x\n\ndata: 6\n\n');
  const groups: string[][] = [];
  for await (const frames of framesOf(cutAt(bytes, [20, 22, 24, 54]))) groups.push(frames.map(({ data }) => data));
  expect(groups).toEqual([['1', '2'], ['3', '4', '5'], ['6']]);
});

test('ERR-9 a broken connection is reported after the events that arrived', async () => {
  const broken = new Error('reset');
  const body = async function* () {
    yield bytesOf('data: 1\n\ndata: 2\n');
    throw broken;
  };
  const frames = framesOf(body());
  expect((await frames.next()).value).toEqual([{ text: 'data: 1\n\n', event: '', data: '1' }]);
  await expect(frames.next()).rejects.toBe(broken);
});

test('CHAT-11 a reader that stops releases the connection', async () => {
  let isClosed = false;
  const body = async function* () {
    try {
      yield bytesOf('data: 1\n\n');
      yield bytesOf('data: 2\n\n');
    } finally {
      isClosed = true;
    }
  };
  for await (const _ of framesOf(body())) break;
  expect(isClosed).toBe(true);
});

const repeated = async function* (pieces: number, before: string, piece: string): AsyncGenerator<Uint8Array, void> {
  yield bytesOf(before);
  const bytes = bytesOf(piece);
  for (let index = 0; index < pieces; index += 1) yield bytes;
};

const PIECE = 16;

test.each([
  ['a line', 'data: 1\n\ndata: ', 'x'.repeat(PIECE)],
  ['a line after a comment', ':\n\ndata: 1\n\ndata: ', 'x'.repeat(PIECE)],
  ['a name', 'data: 1\n\nevent: ', 'x'.repeat(PIECE)],
  ['text without a line end', 'data: 1\n\n', 'x'.repeat(PIECE)],
  ['data of many lines', 'data: 1\n\n', `data: ${'x'.repeat(PIECE - 7)}\n`],
  ['only comments', 'data: 1\n\n', `:${'x'.repeat(PIECE - 3)}\n\n`],
])('ERR-9 an event longer than the limit is not read into memory: %s', async (_name, before, piece) => {
  let taken = 0;
  const body = async function* () {
    for await (const bytes of repeated(8, before, piece)) {
      taken += 1;
      yield bytes;
    }
  };
  const given: string[] = [];
  const reading = async () => {
    for await (const frames of framesOf(body(), 4 * PIECE)) given.push(...frames.map(({ data }) => data));
  };
  await expect(reading()).rejects.toMatchObject({ code: 'upstream_error' });
  expect(given).toEqual(['1']);
  // The first piece completes an event. Four more fill the limit, the next one exceeds it.
  expect(taken).toBe(6);
});

test.each(['data: ', ':\n\ndata: '])('CHAT-11 the limit counts every event after %j separately', async (before) => {
  const body = async function* () {
    for (let turn = 0; turn < 3; turn += 1) {
      yield* repeated(3, before, 'x'.repeat(PIECE));
      yield bytesOf('\n\n');
    }
  };
  const lengths: number[] = [];
  for await (const frames of framesOf(body(), 4 * PIECE)) lengths.push(...frames.map(({ data }) => data.length));
  expect(lengths).toEqual([3 * PIECE, 3 * PIECE, 3 * PIECE]);
});

test('CHAT-11 an event of 64 Mi characters passes', async () => {
  const length = frameLengthMax / 4;
  const [frame] = await allFrames(
    (async function* () {
      yield* repeated(4, '', `data: ${'x'.repeat(length - 7)}\n`);
      yield bytesOf('\n');
    })(),
  );
  expect([frameLengthMax, frame?.data.length]).toEqual([64 * 1024 * 1024, 4 * (length - 7) + 3]);
});
