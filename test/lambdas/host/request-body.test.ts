import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createBodySource } from '../../../lambdas/host/request-body.ts';
import { createMoment } from '../../support/memory/faults.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** Minimum bytes of a body in 15 s. */
const ENOUGH = 15 * 1024;

const opened = (grow: (bytes: number) => Promise<void> = async () => undefined) => {
  const request = new IncomingMessage(new Socket());
  const reading = createBodySource(request).read(1_000_000, grow);
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
