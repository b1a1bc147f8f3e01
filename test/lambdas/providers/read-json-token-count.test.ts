import { expect, test } from 'vitest';
import { tokenCount } from '../../../lambdas/providers/read-json.ts';

test.for([
  [0, 0],
  [7, 7],
  [0.1, 1],
  [7.000001, 8],
  [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [2 ** 53, Number.MAX_SAFE_INTEGER],
  [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER],
  [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
] as const)('BILL-7 a count of %d is %d', ([reported, counted]) => {
  expect(tokenCount.parse(reported)).toBe(counted);
});

test.for([undefined, null, -1, -0.5, Number.NaN, '3', '', true, [3], { count: 3 }])(
  'BILL-10 %j is not a count',
  (reported) => {
    expect(tokenCount.parse(reported) ?? undefined).toBeUndefined();
  },
);
