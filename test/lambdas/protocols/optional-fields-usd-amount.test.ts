import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsd } from '../../../lambdas/core/money/usd.ts';
import { usdAmount } from '../../../lambdas/protocols/optional-fields.ts';
import { randomRuns } from '../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 500, long: 500 });
const amount = usdAmount({ leastPicos: -2n, mostPicos: 10n ** 18n, example: '5' });

test('BILL-15 an amount within its bounds is read exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -2n, max: 10n ** 18n }), (picos) => {
      expect(amount.parse(formatUsd(picos))).toBe(picos);
    }),
    runs,
  );
});

test.for<unknown>([
  '-0.000000000003',
  '1000000.000000000001',
  5,
  5n,
  null,
  undefined,
  [],
  ['5'],
  { usd: '5' },
  '5 USD',
])('BILL-15 %o is not an amount, and one sentence describes the form', (given) => {
  const { error } = amount.safeParse(given);
  expect(error?.issues.map(({ message }) => message.replace(/\.$/, ''))).toEqual([
    'must be a decimal string of USD such as "5", from -0.000000000002 to 1000000, with at most 12 decimals',
  ]);
});
