import { expect, test } from 'vitest';
import { toTokenUsage } from '../../../../lambdas/providers/openai/chat-wire.ts';

const of = (prompt: unknown, completion: unknown, promptDetails?: unknown, completionDetails?: unknown) =>
  toTokenUsage({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: 0,
    prompt_tokens_details: promptDetails,
    completion_tokens_details: completionDetails,
  });

const counts = (input: number, cacheRead: number, cacheWrite: number, output: number, reasoning: number) => ({
  input,
  cacheRead,
  cacheWrite,
  cacheWrite1h: 0,
  output,
  reasoning,
});

test.for([
  ['plain counts', of(19, 10), counts(19, 0, 0, 10, 0)],
  ['zero', of(0, 0), counts(0, 0, 0, 0, 0)],
  ['cached tokens are part of the prompt', of(100, 5, { cached_tokens: 64 }), counts(36, 64, 0, 5, 0)],
  ['cache writes are too', of(100, 5, { cached_tokens: 64, cache_write_tokens: 30 }), counts(6, 64, 30, 5, 0)],
  ['reasoning is part of the completion', of(1, 50, undefined, { reasoning_tokens: 40 }), counts(1, 0, 0, 10, 40)],
  ['more cached than prompt', of(10, 1, { cached_tokens: 25 }), counts(0, 10, 0, 1, 0)],
  [
    'more cache writes than remaining tokens',
    of(10, 1, { cached_tokens: 4, cache_write_tokens: 9 }),
    counts(0, 4, 6, 1, 0),
  ],
  ['more reasoning than completion', of(10, 5, null, { reasoning_tokens: 9 }), counts(10, 0, 0, 0, 5)],
  ['no prompt', of(undefined, 3), counts(0, 0, 0, 3, 0)],
  ['no completion', of(3, undefined), counts(3, 0, 0, 0, 0)],
  ['a completion of null', of(3, null), counts(3, 0, 0, 0, 0)],
  ['details of null', of(10, 5, null, null), counts(10, 0, 0, 5, 0)],
  ['members of null', of(10, 5, { cached_tokens: null }, { reasoning_tokens: null }), counts(10, 0, 0, 5, 0)],
  ['unreadable details', of(10, 5, 'many', [3]), counts(10, 0, 0, 5, 0)],
  ['a negative detail', of(10, 5, { cached_tokens: -3 }, { reasoning_tokens: -1 }), counts(10, 0, 0, 5, 0)],
  ['a detail that is text', of(10, 5, { cached_tokens: '3' }, { reasoning_tokens: '1' }), counts(10, 0, 0, 5, 0)],
  ['fractions', of(9.1, 4.5, { cached_tokens: 0.5 }, { reasoning_tokens: 1.5 }), counts(9, 1, 0, 3, 2)],
  ['a negative prompt', of(-1, 3), counts(0, 0, 0, 3, 0)],
  ['a prompt that is text', of('3', 3), counts(0, 0, 0, 3, 0)],
  ['a completion of true', of(3, true), counts(3, 0, 0, 0, 0)],
  ['a prompt that is not a number', of(Number.NaN, 3), counts(0, 0, 0, 3, 0)],
  ['counts beyond exact integers', of(3, 2 ** 60), counts(3, 0, 0, Number.MAX_SAFE_INTEGER, 0)],
] as const)('BILL-11 disjoint counts: %s', ([, actual, expected]) => {
  expect(actual).toEqual(expected);
});

const totalled = (
  completion: unknown,
  reasoning: unknown,
  total: unknown,
  row?: 'included' | 'beside',
  prompt: unknown = 12,
) =>
  toTokenUsage(
    {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: total,
      completion_tokens_details: { reasoning_tokens: reasoning },
    },
    row,
  );

const differing = { totalDiffers: true };

test.for([
  ['included, as the total says', totalled(400, 386, 412), counts(12, 0, 0, 14, 386)],
  ['beside, as only the total says', totalled(1, 386, 399), { ...counts(12, 0, 0, 1, 386), ...differing }],
  ['only in the total', totalled(1, undefined, 399), { ...counts(12, 0, 0, 1, 386), ...differing }],
  ['partly in the total', totalled(100, 80, 162), { ...counts(12, 0, 0, 70, 80), ...differing }],
  ['above a total that is too small', totalled(100, 80, 90), { ...counts(12, 0, 0, 20, 80), ...differing }],
  ['included without a total', totalled(100, 80, undefined), counts(12, 0, 0, 20, 80)],
  ['included beside a total that is text', totalled(100, 80, '192'), counts(12, 0, 0, 20, 80)],
  ['included by its row', totalled(400, 386, 412, 'included'), counts(12, 0, 0, 14, 386)],
  [
    'included by its row, whatever the total says',
    totalled(400, 386, 798, 'included'),
    { ...counts(12, 0, 0, 14, 386), ...differing },
  ],
  ['beside by its row', totalled(1, 386, 399, 'beside'), counts(12, 0, 0, 1, 386)],
  ['beside by its row without a total', totalled(1, 386, undefined, 'beside'), counts(12, 0, 0, 1, 386)],
  ['beside by its row and only in the total', totalled(1, undefined, 399, 'beside'), counts(12, 0, 0, 1, 386)],
  [
    'beside by its row, whatever the total says',
    totalled(400, 386, 412, 'beside'),
    { ...counts(12, 0, 0, 400, 386), ...differing },
  ],
] as const)('BILL-11 reasoning is %s', ([, actual, expected]) => {
  expect(actual).toEqual(expected);
});

test('BILL-11 a prompt of 0 is the rest of the total', () => {
  expect(totalled(47, 7, 1_247, undefined, 0)).toEqual({ ...counts(1_200, 0, 0, 40, 7), ...differing });
  expect(totalled(47, 7, 1_247, 'beside', 0)).toMatchObject({ input: 1_200, output: 47, reasoning: 7 });
  expect(totalled(47, 7, 1_247, undefined, '1200')).toEqual(counts(0, 0, 0, 40, 7));
});

test.for([
  ['nothing', toTokenUsage(undefined)],
  ['null', toTokenUsage(null)],
  ['an empty object', toTokenUsage({})],
  ['a list', toTokenUsage([1, 2])],
  ['negative counts', of(-1, -3)],
  ['counts that are text', of('3', 'x')],
  ['only details', of(undefined, null, { cached_tokens: 3 }, { reasoning_tokens: 3 })],
] as const)('BILL-10 %s is not a usage', ([, actual]) => {
  expect(actual).toBeUndefined();
});
