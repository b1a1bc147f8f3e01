import { expect, test } from 'vitest';
import { accountUnits, holdLimitRate, PARTITION_UNITS, partitionRate } from '../../../bin/costs/account-writes.ts';

test.each([
  [0, 4],
  [1, 3],
  [30, 3],
  [35, 3],
  [36, 5],
  [100, 7],
  [199, 11],
])('BILL-1 with %i other open holds, a request takes %i write units of its account', (open, units) => {
  expect(accountUnits(open)).toBe(units);
});

test.each([
  [1, false],
  [0.3, false],
  [2, true],
  [60, true],
])('BILL-1 requests of %d s are throttled just above the computed rate', (seconds, recordsMoved) => {
  const { perSecond } = partitionRate(seconds, recordsMoved);
  const used = (rate: number) => rate * (accountUnits(rate * seconds) - (recordsMoved ? 1 : 0));
  expect(used(perSecond)).toBeLessThanOrEqual(PARTITION_UNITS);
  expect(used(perSecond + 1)).toBeGreaterThan(PARTITION_UNITS);
});

test('BILL-1 the rate of an account is where its units reach those of a partition', () => {
  // An item with 125 holds has 182 + 23 × 125 = 3,057 bytes: 3 units for each of two writes, and one for the record.
  expect(partitionRate(1, false)).toEqual({ perSecond: 124, openHolds: 124, units: 7 });
  // 90 × 11 = 990. 91 × 11 = 1,001.
  expect(partitionRate(2, false)).toEqual({ perSecond: 90, openHolds: 180, units: 11 });
  // Without the record, 100 × 10 = 1,000.
  expect(partitionRate(2, true)).toMatchObject({ perSecond: 100, openHolds: 200 });
});

test('LIM-8 rejects requests of 3 s before their account is throttled, and of 1 s after it', () => {
  expect(holdLimitRate(3)).toEqual({ perSecond: 66, openHolds: 198, units: 11 });
  expect(holdLimitRate(3).perSecond).toBeLessThan(partitionRate(3, false).perSecond);
  expect(holdLimitRate(1).perSecond).toBeGreaterThan(partitionRate(1, false).perSecond);
});
