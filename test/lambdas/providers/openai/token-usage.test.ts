import { expect, test } from 'vitest';
import { toDisjointCounts } from '../../../../lambdas/providers/openai/token-usage.ts';

const none = { cached: undefined, cacheWrite: undefined, reasoning: undefined };
/** 100 tokens of the prompt, 50 of the completion and 30 of reasoning beside it. */
const beside = { ...none, prompt: 100, completion: 50, total: 180, reasoning: 30 };

test.for([
  [undefined, 20 + 30, 30, true],
  ['beside', 50, 30, undefined],
  ['included', 20, 30, true],
] as const)('BILL-11 reasoning that only the total includes, with the row %s', ([row, output, reasoning, differs]) => {
  const usage = toDisjointCounts(beside, row);
  expect(usage).toMatchObject({ input: 100, output, reasoning });
  expect(usage?.totalDiffers).toBe(differs);
});

test('BILL-11 a total that equals its parts has the reasoning in the completion', () => {
  const usage = toDisjointCounts({ ...beside, completion: 80 });
  expect(usage).toMatchObject({ output: 50, reasoning: 30 });
  expect(usage).not.toHaveProperty('totalDiffers');
});

test('BILL-11 usage without a prompt and a completion has no counts', () => {
  expect(toDisjointCounts({ ...none, prompt: undefined, completion: null, total: 9 })).toBeUndefined();
});
