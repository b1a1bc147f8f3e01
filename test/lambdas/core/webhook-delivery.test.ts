import { expect, test } from 'vitest';
import { afterAttempt, type DeliveryState, isDelivered } from '../../../lambdas/core/webhook-delivery.ts';

const failed = { status: 500, problem: 'No.' };
const times = { nowMs: 1_000, retryMs: 10_000 };

const statesOf = (retryMs: number): readonly DeliveryState[] => {
  const states: DeliveryState[] = [];
  for (let turn = 0; turn < 5; turn += 1) states.push(afterAttempt(states.at(-1), failed, { ...times, retryMs }));
  return states;
};

test('VID-7 the waits between attempts triple, and the fifth attempt is the last one', () => {
  const next = statesOf(10_000).map(({ nextAtMs }) => nextAtMs && nextAtMs - times.nowMs);
  expect(next).toEqual([10_000, 30_000, 90_000, 270_000, undefined]);
  expect(statesOf(600_000).map(({ nextAtMs = 0 }) => nextAtMs - times.nowMs)[2]).toBe(3_600_000);
});

test('VID-7 an accepted attempt has a status, and neither a problem nor a next attempt', () => {
  const accepted = afterAttempt(statesOf(10_000)[1], { status: 204, problem: undefined }, times);
  expect(accepted).toEqual({ attempts: 3, lastAtMs: 1_000, status: 204 });
  expect([isDelivered(accepted), ...statesOf(1).map(isDelivered)]).toEqual([true, ...Array(5).fill(false)]);
});

test('VID-7 an attempt without a response has no status', () => {
  const state = afterAttempt(undefined, { status: undefined, problem: 'No.' }, times);
  expect(state).toEqual({ attempts: 1, lastAtMs: 1_000, problem: 'No.', nextAtMs: 11_000 });
});
