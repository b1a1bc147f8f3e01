import { expect, test } from 'vitest';
import type { JsonValue } from '../../../../lambdas/core/json.ts';
import { toTokenUsage } from '../../../../lambdas/providers/anthropic/response.ts';
import { mergeUsage } from '../../../../lambdas/providers/merge-usage.ts';

const counts = (
  input: number,
  cacheRead: number,
  cacheWrite: number,
  cacheWrite1h: number,
  output: number,
  reasoning: number,
) => ({
  input,
  cacheRead,
  cacheWrite,
  cacheWrite1h,
  output,
  reasoning,
});

const split = (for5m: JsonValue, for1h: JsonValue) => ({
  ephemeral_5m_input_tokens: for5m,
  ephemeral_1h_input_tokens: for1h,
});
const base = { input_tokens: 10, output_tokens: 5 };

test.for([
  ['plain counts', base, counts(10, 0, 0, 0, 5, 0)],
  ['zero', { input_tokens: 0, output_tokens: 0 }, counts(0, 0, 0, 0, 0, 0)],
  ['cached tokens are not part of the input', { ...base, cache_read_input_tokens: 64 }, counts(10, 64, 0, 0, 5, 0)],
  [
    'cache writes without a split count as written for 5 minutes',
    { ...base, cache_creation_input_tokens: 30 },
    counts(10, 0, 30, 0, 5, 0),
  ],
  ['a split', { ...base, cache_creation_input_tokens: 30, cache_creation: split(10, 20) }, counts(10, 0, 10, 20, 5, 0)],
  [
    'a split of less than all',
    { ...base, cache_creation_input_tokens: 50, cache_creation: split(10, 20) },
    counts(10, 0, 30, 20, 5, 0),
  ],
  [
    'a split of more than all',
    { ...base, cache_creation_input_tokens: 15, cache_creation: split(10, 20) },
    counts(10, 0, 0, 15, 5, 0),
  ],
  ['a split without the sum', { ...base, cache_creation: split(10, 20) }, counts(10, 0, 10, 20, 5, 0)],
  ['a split of null', { ...base, cache_creation_input_tokens: 30, cache_creation: null }, counts(10, 0, 30, 0, 5, 0)],
  [
    'an unreadable split',
    { ...base, cache_creation_input_tokens: 30, cache_creation: split('x', -1) },
    counts(10, 0, 30, 0, 5, 0),
  ],
  [
    'thinking is part of the output',
    { ...base, output_tokens_details: { thinking_tokens: 4 } },
    counts(10, 0, 0, 0, 1, 4),
  ],
  ['more thinking than output', { ...base, output_tokens_details: { thinking_tokens: 9 } }, counts(10, 0, 0, 0, 0, 5)],
  ['details of null', { ...base, output_tokens_details: null }, counts(10, 0, 0, 0, 5, 0)],
  [
    'members of null',
    { ...base, cache_read_input_tokens: null, cache_creation_input_tokens: null },
    counts(10, 0, 0, 0, 5, 0),
  ],
  ['no input', { output_tokens: 3 }, counts(0, 0, 0, 0, 3, 0)],
  ['no output', { input_tokens: 3 }, counts(3, 0, 0, 0, 0, 0)],
  ['a negative output', { ...base, output_tokens: -1 }, counts(10, 0, 0, 0, 0, 0)],
  ['an input that is text', { ...base, input_tokens: '3' }, counts(0, 0, 0, 0, 5, 0)],
  ['fractions', { input_tokens: 1.5, output_tokens: 0.1 }, counts(2, 0, 0, 0, 1, 0)],
  ['counts beyond exact integers', { ...base, input_tokens: 2 ** 60 }, counts(Number.MAX_SAFE_INTEGER, 0, 0, 0, 5, 0)],
  [
    'invalid cache counts',
    { ...base, cache_read_input_tokens: -1, cache_creation_input_tokens: 'x' },
    counts(10, 0, 0, 0, 5, 0),
  ],
] as const)('BILL-11 disjoint counts: %s', ([, reported, expected]) => {
  expect(toTokenUsage(reported)).toEqual(expected);
});

test.for([
  ['nothing', undefined],
  ['null', null],
  ['an empty object', {}],
  ['cache counts alone', { cache_read_input_tokens: 3 }],
  ['a list', [1]],
  ['a negative input without output', { input_tokens: -1, output_tokens: null }],
  ['nothing but text', { input_tokens: '3', output_tokens: '4' }],
] as const)('BILL-10 %s is not a usage', ([, reported]) => {
  expect(toTokenUsage(reported)).toBeUndefined();
});

test('BILL-12 later totals replace earlier ones if they are reported, and the split stays', () => {
  const start = { ...base, cache_creation_input_tokens: 30, cache_creation: split(10, 20), cache_read_input_tokens: 7 };
  const merged = mergeUsage(start, { output_tokens: 40, input_tokens: null, cache_read_input_tokens: 8 });
  expect(toTokenUsage(merged)).toEqual(counts(10, 8, 10, 20, 40, 0));
});
