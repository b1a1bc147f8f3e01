import { expect, test } from 'vitest';
import { daysBetween } from '../../../../lambdas/core/ledger/usage-periods.ts';

test('BILL-23 days between two days include both, also at the end of the calendar', () => {
  expect(daysBetween('2026-02-27', '2026-03-02')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']);
  expect(daysBetween('9999-12-31', '9999-12-31')).toEqual(['9999-12-31']);
});
