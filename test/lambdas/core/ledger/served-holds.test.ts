import { expect, test } from 'vitest';
import { ServedHolds } from '../../../../lambdas/core/ledger/served-holds.ts';

const HOLDS_MAX = 20_000;

test('BILL-13 a hold is served until it is closed, or until its lifetime has passed', () => {
  let nowMs = 1_000;
  const served = new ServedHolds(() => nowMs);
  served.placed('r.0', 500);
  served.placed('s.0', 500);
  expect([served.has('r.0'), served.has('s.0'), served.has('t.0')]).toEqual([true, true, false]);
  served.closed('r.0');
  nowMs = 1_499;
  expect([served.has('r.0'), served.has('s.0')]).toEqual([false, true]);
  nowMs = 1_500;
  expect(served.has('s.0')).toBe(false);
});

test('BILL-13 a limited number of holds is kept, and the oldest is forgotten first', () => {
  const served = new ServedHolds(() => 0);
  for (let number = 0; number <= HOLDS_MAX; number += 1) served.placed(`${number}.0`, 1);
  expect([served.has('0.0'), served.has('1.0'), served.has(`${HOLDS_MAX}.0`)]).toEqual([false, true, true]);
});

test('BILL-13 a hold of a clock ahead is over one lifetime after it was seen first', () => {
  let nowMs = 1_000;
  const served = new ServedHolds(() => nowMs);
  expect([served.hasOutlived('r.0', 500), served.has('r.0')]).toEqual([false, false]);
  nowMs = 1_499;
  expect([served.hasOutlived('r.0', 500), served.hasOutlived('s.0', 500)]).toEqual([false, false]);
  nowMs = 1_500;
  expect([served.hasOutlived('r.0', 500), served.hasOutlived('s.0', 500)]).toEqual([true, false]);
});
