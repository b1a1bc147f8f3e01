import { expect, test } from 'vitest';
import { hasNoCount } from '../../../../lambdas/core/pricing/charge.ts';

test.for([
  ['no counts', {}, true],
  ['zeros', { input: 0, output: 0 }, true],
  ['one count above 0', { input: 0, output: 1 }, false],
] as const)('BILL-10 usage with %s: is it missing?', ([, usage, expected]) => {
  expect(hasNoCount(usage)).toBe(expected);
});
