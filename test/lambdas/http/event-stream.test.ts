import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventStream } from '../../../lambdas/http/event-stream.ts';
import { ManualClock } from '../../support/memory/manual-clock.ts';

const opened = () => {
  const clock = new ManualClock();
  return { clock, events: new EventStream(clock) };
};

/** Reads all the time; the pieces as they came. */
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

test('CHAT-11 the end lets out all that is left', async () => {
  const { events } = opened();
  for (const word of ['a', 'b', '[DONE]']) events.event(word);
  events.end();
  expect(await text(events.body)).toBe('data: a\n\ndata: b\n\ndata: [DONE]\n\n');
});

test('CHAT-11 an end without an event is an empty body', async () => {
  const { events } = opened();
  events.end();
  expect(await text(events.body)).toBe('');
});

test('CHAT-11 a reader that is slow but near gets everything in order', async () => {
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

test('CHAT-11 an event above 1 MiB reaches a client that reads', async () => {
  const { clock, events } = opened();
  const seen = reader(events);
  await clock.flush();
  const long = 'x'.repeat(1_500_000);
  events.event(long);
  await clock.flush();
  await nextTurn();
  events.event('after');
  events.end();
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.text === `data: ${long}\n\ndata: after\n\n`).toBe(true);
});

test('BILL-8 a reader more than 1 MiB behind gets no more, and the stream ends without an error', async () => {
  const { clock, events } = opened();
  for (let at = 0; at < 40; at += 1) events.event('x'.repeat(60_000));
  events.event('late');
  events.event('[DONE]');
  events.end();
  const seen = reader(events);
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.failed).toBe(false);
  expect(seen.text).not.toContain('late');
  expect(seen.text).not.toContain('[DONE]');
  expect(seen.text.length).toBeLessThan(1_300_000);
  expect(clock.waiting).toBe(0);
});

test('BILL-8 behind means bytes, not characters', async () => {
  const { events } = opened();
  for (let at = 0; at < 25; at += 1) events.event('日'.repeat(20_000));
  events.event('late');
  events.end();
  const seen = reader(events);
  await expect.poll(() => seen.ended).toBe(true);
  expect(seen.text.includes('late')).toBe(false);
});

test('BILL-8 less than 1 MiB behind nothing is lost', async () => {
  const { events } = opened();
  for (let at = 0; at < 17; at += 1) events.event('x'.repeat(60_000));
  events.event('last');
  events.end();
  expect(await text(events.body)).toMatch(/data: last\n\n$/);
});

test('BILL-8 a reader that leaves harms nothing', async () => {
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

test('CHAT-11 an event puts the keep-alive off, the end puts it away', async () => {
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

test('CHAT-11 nothing is said after the end', async () => {
  const { clock, events } = opened();
  events.event('a');
  events.end();
  events.event('b');
  events.end();
  expect(await text(events.body)).toBe('data: a\n\n');
  expect(clock.waiting).toBe(0);
});
