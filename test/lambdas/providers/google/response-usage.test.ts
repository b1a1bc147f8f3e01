import { expect, test } from 'vitest';
import { toTokenUsage } from '../../../../lambdas/providers/google/response.ts';

const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

/**
 * promptTokenCount includes cached tokens; candidatesTokenCount excludes thoughts; results of tools have their own
 * count.
 */
test.for([
  [
    { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    { input: 10, output: 5 },
  ],
  [
    { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 5 },
    { input: 6, cacheRead: 4, output: 5 },
  ],
  [
    { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7, totalTokenCount: 22 },
    { input: 10, output: 5, reasoning: 7 },
  ],
  [
    { promptTokenCount: 10, thoughtsTokenCount: 7 },
    { input: 10, reasoning: 7 },
  ],
  [
    { promptTokenCount: 10, toolUsePromptTokenCount: 3, candidatesTokenCount: 1 },
    { input: 13, output: 1 },
  ],
  [
    { promptTokenCount: 10, cachedContentTokenCount: 40 },
    { input: 0, cacheRead: 10 },
  ],
  [{ promptTokenCount: 10, cachedContentTokenCount: 'x' }, { input: 10 }],
  [{ promptTokenCount: 10, totalTokenCount: 900, promptTokensDetails: 'x' }, { input: 10 }],
  [{ promptTokenCount: 10, candidatesTokenCount: null }, { input: 10 }],
  [{ candidatesTokenCount: 5 }, { output: 5 }],
  [{ promptTokenCount: 0 }, {}],
  [
    { promptTokenCount: 1.2, candidatesTokenCount: 4.5 },
    { input: 2, output: 5 },
  ],
  [{ promptTokenCount: 5, thoughtsTokenCount: 'x', candidatesTokenCount: -1 }, { input: 5 }],
  [{ promptTokenCount: '5', thoughtsTokenCount: 3 }, { reasoning: 3 }],
  [
    { promptTokenCount: 5, toolUsePromptTokenCount: -2, candidatesTokenCount: 1e300 },
    { input: 5, output: Number.MAX_SAFE_INTEGER },
  ],
] as const)('BILL-11 %j is %j', ([reported, expected]) => {
  expect(toTokenUsage(reported)).toEqual({ ...none, ...expected });
});

test.for([
  undefined,
  null,
  {},
  [],
  'x',
  { totalTokenCount: 5 },
  { promptTokenCount: '5' },
  { promptTokenCount: -1 },
  { promptTokenCount: Number.NaN },
  { promptTokenCount: true, candidatesTokenCount: [1], thoughtsTokenCount: -0.5 },
  { cachedContentTokenCount: 5, toolUsePromptTokenCount: 5 },
])('BILL-10 %j is not a usage', (reported) => {
  expect(toTokenUsage(reported)).toBeUndefined();
});

test('GEM-3 thoughts and candidates are both output', () => {
  const usage = toTokenUsage({ promptTokenCount: 1, candidatesTokenCount: 30, thoughtsTokenCount: 12 });
  expect((usage?.output ?? 0) + (usage?.reasoning ?? 0)).toBe(42);
});
