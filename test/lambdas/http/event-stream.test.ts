import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventStream } from '../../../lambdas/http/event-stream.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const opened = () => {
  const clock = new ManualClock();
  return { clock, events: new EventStream(clock) };
};

/** Reads continuously. Returns the received text, and whether the stream ended or failed. */
const reader = (events: EventStream) => {
  const seen = { text: '', ended: false, failed: false };
  events.body.on('data', (piece: Buffer) => {
    seen.text += piece.toString();
  });
  events.body.on('end', () => {
    seen.ended = true;
  });
  events.body.on('error', () => {
    seen.failed = true;
  });
  return seen;
};

test('CHAT-11 an event is a data line and a blank line, readable before the next one', async () => {
  const { clock, events } = opened();
  const seen = reader(events);
  events.event('a');
  await clock.flush();
  await nextTurn();
  expect(seen.text).toBe('data: a\n\n');
  events.event('{"é":"🌍"}');
  await clock.flush();
  await nextTurn();
  expect(seen.text).toBe('data: a\n\ndata: {"é":"🌍"}\n\n');
  expect(seen.ended).toBe(false);
});

test('CHAT-11 a slow reader that is not too far behind receives everything in order', async () => {
  const { events } = opened();
  const words = Array.from({ length: 200 }, (_, at) => `${at}-${'x'.repeat(4_000)}`);
  for (const word of words) events.event(word);
  events.end();
  let read = '';
  for await (const piece of events.body) {
    read += Buffer.from(piece).toString();
    await nextTurn();
  }
  expect(read).toBe(words.map((word) => `data: ${word}\n\n`).join(''));
});

/** Reader that has read once and stopped: the buffer is full, and later data waits. */
const stalled = () => {
  const clock = new ManualClock();
  let drops = 0;
  const events = new EventStream(clock, () => {
    drops += 1;
  });
  events.body.read(0);
  events.write(FIRST);
  events.write('');
  return { clock, events, drops: () => drops };
};
const MIB = 1024 * 1024;
const FIRST = 'x'.repeat(MIB + 1);

/** Reads to the end. Returns the text after `FIRST`. */
const readOn = async (events: EventStream): Promise<string> => {
  const seen = reader(events);
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.failed).toBe(false);
  expect(seen.text.startsWith(FIRST)).toBe(true);
  return seen.text.slice(FIRST.length);
};

test('BILL-8 a reader more than 1 MiB behind is dropped at the next write, once, without an error', async () => {
  const { clock, events, drops } = stalled();
  events.write('y'.repeat(MIB + 1));
  expect(drops()).toBe(0);
  for (const word of ['late', 'later', '[DONE]']) events.event(word);
  expect([drops(), clock.waiting]).toEqual([1, 0]);
  events.end();
  expect(await readOn(events)).toBe('');
  expect(drops()).toBe(1);
});

test('BILL-8 a reader that is exactly 1 MiB behind loses nothing', async () => {
  const { events, drops } = stalled();
  events.write('y'.repeat(MIB));
  events.write('z');
  events.end();
  expect(await readOn(events)).toBe(`${'y'.repeat(MIB)}z`);
  expect(drops()).toBe(0);
});

test('BILL-8 the backlog of a reader is counted in bytes, not characters', async () => {
  const { events, drops } = stalled();
  events.write('日'.repeat(MIB / 2));
  events.event('late');
  events.end();
  expect([await readOn(events), drops()]).toEqual(['', 1]);
});

test('BILL-8 one event of any size drops no reader', async () => {
  const { events, drops } = stalled();
  const long = 'y'.repeat(5 * MIB);
  events.event(long);
  const seen = reader(events);
  await expect.poll(() => seen.text.endsWith('y\n\n')).toBe(true);
  events.event(long);
  await expect.poll(() => seen.text.length).toBe(FIRST.length + 2 * (long.length + 8));
  events.event('[DONE]');
  events.end();
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.text.endsWith('y\n\ndata: [DONE]\n\n')).toBe(true);
  expect([drops(), seen.failed]).toEqual([0, false]);
});

test('BILL-8 a reader that has not started to read is not behind', async () => {
  let drops = 0;
  const events = new EventStream(new ManualClock(), () => {
    drops += 1;
  });
  const words = Array.from({ length: 60 }, (_, at) => `${at}-${'x'.repeat(60_000)}`);
  for (const word of words) events.event(word);
  await nextTurn();
  events.event('[DONE]');
  events.end();
  expect(await text(events.body)).toBe([...words, '[DONE]'].map((word) => `data: ${word}\n\n`).join(''));
  expect(drops).toBe(0);
});

test('BILL-8 in a silent stream the keep-alive drops a reader that is behind', async () => {
  const { clock, events, drops } = stalled();
  events.write('y'.repeat(MIB + 1));
  expect([drops(), clock.waiting]).toEqual([0, 1]);
  await clock.advance(15_000);
  expect([drops(), clock.waiting]).toEqual([1, 0]);
  await clock.advance(60_000);
  events.end();
  expect([await readOn(events), drops()]).toEqual(['', 1]);
});

test('BILL-8 a reader that leaves causes no error and leaves no timer', async () => {
  const { clock, events } = opened();
  const seen = reader(events);
  events.event('a');
  await clock.flush();
  await nextTurn();
  events.body.destroy();
  for (let at = 0; at < 50; at += 1) events.event('x'.repeat(60_000));
  events.end();
  await nextTurn();
  expect([seen.failed, clock.waiting]).toEqual([false, 0]);
  expect(seen.text).toBe('data: a\n\n');
});

const keepAlive = ': keep-alive\n\n';

test('CHAT-11 keep-alive comes after each 15 s of silence, but not before the first event', async () => {
  const { clock, events } = opened();
  const seen = reader(events);
  await clock.advance(60_000);
  await nextTurn();
  expect(seen.text).toBe('');
  events.event('a');
  await clock.advance(14_999);
  await nextTurn();
  expect(seen.text).toBe('data: a\n\n');
  await clock.advance(1);
  await nextTurn();
  expect(seen.text).toBe(`data: a\n\n${keepAlive}`);
  await clock.advance(15_000);
  await nextTurn();
  expect(seen.text).toBe(`data: a\n\n${keepAlive}${keepAlive}`);
});

test('CHAT-11 an event delays the keep-alive, and the end stops it', async () => {
  const { clock, events } = opened();
  const seen = reader(events);
  events.event('a');
  await clock.advance(10_000);
  events.event('b');
  await clock.advance(14_999);
  events.end();
  expect(clock.waiting).toBe(0);
  await clock.advance(60_000);
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.text).toBe('data: a\n\ndata: b\n\n');
});

test('CHAT-11 nothing is sent after the end', async () => {
  const { clock, events } = opened();
  events.event('a');
  events.end();
  events.event('b');
  events.end();
  expect(await text(events.body)).toBe('data: a\n\n');
  expect(clock.waiting).toBe(0);
});
