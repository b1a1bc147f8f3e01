import { expect, test } from 'vitest';
import { allowanceUsed, countUncollected, isAllowanceUsed } from '../../../../lambdas/core/ledger/allowance.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';

const LATE = Date.UTC(2026, 10, 26, 23, 59, 59, 999);
const uses = { uncollectedPicos: 5n, usesAllowance: true };

test('BILL-21 amounts of one day add up, and a new day starts from 0', () => {
  const first = countUncollected({}, uses, LATE);
  expect(first).toEqual({ day: '2026-11-26', picos: 5n });
  expect(countUncollected({ uncollected: first }, uses, LATE)).toEqual({ day: '2026-11-26', picos: 10n });
  expect(countUncollected({ uncollected: first }, uses, LATE + 1)).toEqual({ day: '2026-11-27', picos: 5n });
});

test('BILL-21 a clock behind the day of the account adds to that day', () => {
  const uncollected = { day: '2026-11-27', picos: 3n };
  expect(countUncollected({ uncollected }, uses, LATE)).toEqual({ day: '2026-11-27', picos: 8n });
});

test.for([
  ['a charge', {}],
  ['a release without an amount', { usesAllowance: true }],
  ["a provider's failure", { uncollectedPicos: 5n }],
] as const)('BILL-21 %s leaves the counter as it is', ([, record]) => {
  const uncollected = { day: '2026-11-25', picos: 3n };
  expect(countUncollected({ uncollected }, record, LATE)).toBe(uncollected);
  expect(countUncollected({}, record, LATE)).toBeUndefined();
});

test.for([
  ['no amount yet', undefined, false],
  ['less than the allowance', { day: '2026-11-26', picos: 4n }, false],
  ['the allowance', { day: '2026-11-26', picos: 5n }, true],
  ['more on an earlier day', { day: '2026-11-25', picos: 9n }, false],
  ['more on a later day', { day: '2026-11-27', picos: 9n }, true],
  ['less on a later day', { day: '2026-11-27', picos: 4n }, false],
] as const)('BILL-21 an account with %s: is its allowance used?', ([, uncollected, expected]) => {
  const account = uncollected === undefined ? {} : { uncollected };
  expect(isAllowanceUsed(account, { day: '2026-11-26', picos: 5n })).toBe(expected);
  expect(isAllowanceUsed(account, undefined)).toBe(false);
});

test('BILL-21 an allowance of 0 is used by the first amount of the day', () => {
  const allowance = { day: '2026-11-26', picos: 0n };
  expect(isAllowanceUsed({}, allowance)).toBe(false);
  expect(isAllowanceUsed({ uncollected: { day: '2026-11-25', picos: 1n } }, allowance)).toBe(false);
  expect(isAllowanceUsed({ uncollected: { day: '2026-11-26', picos: 1n } }, allowance)).toBe(true);
});

test('BILL-21 the error names the allowance and the end of the day that counts', () => {
  const allowance = { day: '2026-12-31', picos: parseUsd('1') };
  expect(allowanceUsed({ uncollected: { day: '2026-12-31', picos: parseUsd('2') } }, allowance)).toMatchObject({
    code: 'rate_limit_exceeded',
    retryAfterSeconds: 300,
    message:
      'Requests of this account that ended without a charge used its daily allowance of 1 USD. Paid text requests are accepted again at 2027-01-01T00:00:00Z.',
  });
  const later = allowanceUsed({ uncollected: { day: '2027-01-01', picos: parseUsd('2') } }, allowance);
  expect(later.message).toContain('2027-01-02T00:00:00Z');
});
