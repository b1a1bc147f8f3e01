import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createBodySource } from '../../../lambdas/host/body-source.ts';
import { createMoment } from '../../support/memory/faults.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** The least a body must bring in 15 s. */
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

test('GEN-15 every 15 s are looked at by themselves', async () => {
  const { request, reading, bring } = opened();
  await bring(10 * ENOUGH);
  vi.advanceTimersByTime(15_000);
  await bring(ENOUGH);
  vi.advanceTimersByTime(15_000);
  expect(request.destroyed).toBe(false);
  vi.advanceTimersByTime(15_000);
  expect(await reading).toBe('incomplete');
});

test('GEN-15 single bytes in every 15 s are too few', async () => {
  const { request, bring } = opened();
  await bring(1);
  vi.advanceTimersByTime(15_000);
  expect(request.destroyed).toBe(true);
});

test('GEN-14, GEN-15 a body that we do not read is not blamed for it', async () => {
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

test('GEN-14 a refusal while a body waits is thrown as it is', async () => {
  const refusal = new GatewayError('service_unavailable', 'full');
  const { reading, bring } = opened(() => Promise.reject(refusal));
  const thrown = reading.catch((error: unknown) => error);
  await bring(10);
  expect(await thrown).toBe(refusal);
  expect(vi.getTimerCount()).toBe(0);
});

test('GEN-15 a body that has ended is watched no more', async () => {
  const { request, reading, bring } = opened();
  await bring(3);
  request.push(null);
  expect(await reading).toEqual(Buffer.alloc(3));
  expect(vi.getTimerCount()).toBe(0);
});
