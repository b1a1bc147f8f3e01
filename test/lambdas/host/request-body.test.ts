import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createBodySource, discardRest } from '../../../lambdas/host/request-body.ts';
import { createMoment } from '../../support/memory/faults.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

/** Minimum bytes of a body in 15 s. */
const ENOUGH = 15 * 1024;

const opened = (grow: (bytes: number) => Promise<void> = async () => undefined, declaredBytes?: number) => {
  const request = new IncomingMessage(new Socket());
  if (declaredBytes !== undefined) request.headers['content-length'] = String(declaredBytes);
  const reading = Promise.resolve(createBodySource(request).read(50_000_000, grow));
  const bring = async (bytes: number): Promise<void> => {
    request.push(Buffer.alloc(bytes));
    await nextTurn();
  };
  return { request, reading, bring };
};

test('GEN-15 a body below 1 KiB/s over 15 s loses its connection', async () => {
  const { request, reading, bring } = opened();
  await bring(ENOUGH - 1);
  vi.advanceTimersByTime(14_999);
  expect(request.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(request.destroyed).toBe(true);
  expect(await reading).toBe('incomplete');
  expect(vi.getTimerCount()).toBe(0);
});

test('GEN-15 the minimum rate of a body applies to every interval of 15 s on its own', async () => {
  const { request, reading, bring } = opened();
  await bring(10 * ENOUGH);
  vi.advanceTimersByTime(15_000);
  await bring(ENOUGH);
  vi.advanceTimersByTime(15_000);
  expect(request.destroyed).toBe(false);
  vi.advanceTimersByTime(15_000);
  expect(await reading).toBe('incomplete');
});

test('GEN-14, GEN-15 a body is not too slow while the gateway waits for budget', async () => {
  const room = createMoment();
  const { request, reading, bring } = opened(() => room.until);
  await bring(10);
  vi.advanceTimersByTime(45_000);
  expect(request.destroyed).toBe(false);
  room.come();
  await nextTurn();
  request.push(null);
  expect(await reading).toEqual(Buffer.alloc(10));
});

test('GEN-14 a rejection while a body waits is thrown unchanged', async () => {
  const refusal = new GatewayError('service_unavailable', 'full');
  const { reading, bring } = opened(() => Promise.reject(refusal));
  const thrown = reading.catch((error: unknown) => error);
  await bring(10);
  expect(await thrown).toBe(refusal);
  expect(vi.getTimerCount()).toBe(0);
});

/** Returns the result if the body has ended, otherwise `reads`. */
const now = (result: Promise<unknown>): Promise<unknown> => Promise.race([result, nextTurn('reads')]);

/** Brings a fast enough body for this many seconds, in steps of 10 s. Returns the bytes. */
const dribble = async (bring: (bytes: number) => Promise<void>, seconds: number): Promise<number> => {
  for (let passed = 0; passed < seconds; passed += 10) {
    await bring(ENOUGH);
    await vi.advanceTimersByTimeAsync(10_000);
  }
  return (seconds / 10) * ENOUGH;
};

test('GEN-15 a declared body that takes more than 120 s and 1 s for each 64 KiB is 408', async () => {
  const { request, reading, bring } = opened(undefined, 40 * 64 * 1024);
  const thrown = reading.catch((error: unknown) => error);
  await dribble(bring, 150);
  await bring(ENOUGH);
  await vi.advanceTimersByTimeAsync(9_999);
  const stillReads = await now(thrown);
  await vi.advanceTimersByTimeAsync(1);
  expect(stillReads).toBe('reads');
  expect(await now(thrown)).toMatchObject({
    code: 'request_timeout',
    status: 408,
    headers: { connection: 'close' },
    message: 'The body did not arrive within 160 s. Send it faster, or send a smaller body.',
  });
  expect([request.destroyed, vi.getTimerCount()]).toEqual([false, 0]);
});

test('GEN-15 a body without a length has 1 s more for each 64 KiB that it brought', async () => {
  const { reading, bring } = opened();
  const thrown = reading.catch((error: unknown) => error);
  await bring(40 * 64 * 1024);
  await vi.advanceTimersByTimeAsync(10_000);
  await dribble(bring, 150);
  expect(await now(thrown)).toBe('reads');
  await dribble(bring, 10);
  expect(await now(thrown)).toMatchObject({ code: 'request_timeout' });
});

test('GEN-14, GEN-15 the time of a body stops while the gateway waits for budget', async () => {
  const room = createMoment();
  const { request, reading, bring } = opened(() => room.until, 10);
  await bring(10);
  await vi.advanceTimersByTimeAsync(500_000);
  room.come();
  await nextTurn();
  request.push(null);
  expect(await reading).toEqual(Buffer.alloc(10));
});

test('GEN-14, GEN-15 a body that is too late takes no more budget, and its rest can be discarded', async () => {
  const grown: number[] = [];
  const { request, reading, bring } = opened(async (bytes) => void grown.push(bytes), 64 * 1024);
  const thrown = reading.catch((error: unknown) => error);
  await dribble(bring, 130);
  expect(await now(thrown)).toMatchObject({ code: 'request_timeout' });
  const taken = grown.length;
  let isDone = false;
  discardRest(request, () => {
    isDone = true;
  });
  await bring(ENOUGH);
  await bring(ENOUGH);
  await nextTurn();
  expect([grown.length, request.readableLength, isDone]).toEqual([taken, 0, false]);
  request.destroy();
  await nextTurn();
  expect([isDone, vi.getTimerCount()]).toEqual([true, 0]);
});

const MIB = 1024 * 1024;

test.each([
  ['announced as it is', 3 * MIB, 3 * MIB],
  ['announced as more than is taken', 3 * MIB, 50 * MIB],
  ['not announced', 3 * MIB, undefined],
  ['shorter than what is given room', MIB / 2, MIB / 2],
  ['longer by a byte', MIB + 1, MIB + 1],
])('GEN-14 a body %s is the sum of its pieces, in order', async (_, bytes, announced) => {
  const request = new IncomingMessage(new Socket());
  if (announced !== undefined) request.headers['content-length'] = String(announced);
  const sent = Buffer.alloc(bytes, 'all of it, in its order. ');
  const reading = createBodySource(request).read(4 * MIB, async () => undefined);
  for (let at = 0; at < bytes; at += 60_000) request.push(sent.subarray(at, at + 60_000));
  request.push(null);
  const read = await reading;
  if (typeof read === 'string') throw new Error(read);
  expect(sent.equals(read)).toBe(true);
});

test('GEN-1 a body above the limit is too long, whatever length was announced', async () => {
  for (const announced of [undefined, '10', String(3 * MIB)]) {
    const request = new IncomingMessage(new Socket());
    if (announced !== undefined) request.headers['content-length'] = announced;
    const reading = createBodySource(request).read(2 * MIB, async () => undefined);
    for (let piece = 0; piece < 40; piece += 1) request.push(Buffer.alloc(60_000));
    expect(await reading).toBe('too-long');
  }
});

test('GEN-1 a body that has arrived before it is read is complete at its length, without any timer', async () => {
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = '3';
  request.push(Buffer.from('ab'));
  request.push(Buffer.from('c'));
  const grown: number[] = [];
  const reading = createBodySource(request).read(3, async (bytes) => void grown.push(bytes));
  expect(vi.getTimerCount()).toBe(0);
  expect([String(await reading), grown]).toEqual(['abc', [3]]);
});

test('GEN-1 a body that has arrived and is above the limit is too long', async () => {
  const request = new IncomingMessage(new Socket());
  request.push(Buffer.from('abcd'));
  request.complete = true;
  request.push(null);
  expect(await createBodySource(request).read(3, async () => undefined)).toBe('too-long');
});
