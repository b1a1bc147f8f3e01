import { expect, test } from 'vitest';
import { BODIES_AT_ONCE, BODY_BUDGET_BYTES_DEFAULT, BODY_BYTES_MAX, BODY_LIMIT_TEXT } from '../../lambdas/limits.ts';

test('GEN-1 GEN-14 a body has 20 MiB at most, and the default budget has memory for eight', () => {
  expect([BODY_BYTES_MAX, BODY_LIMIT_TEXT]).toEqual([20_971_520, '20971520 bytes (20 MiB)']);
  expect([BODIES_AT_ONCE, BODY_BUDGET_BYTES_DEFAULT]).toEqual([8, 167_772_160]);
});
