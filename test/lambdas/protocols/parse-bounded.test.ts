import { expect, test } from 'vitest';
import * as z from 'zod';
import { anyObject, listOf, recordOf } from '../../../lambdas/protocols/parse.ts';

const list = listOf(z.strictObject({ a: z.string() }), { min: 1, max: 100_000, message: 'must be a list' });

test('GEN-2 the error for a hundred thousand wrong members describes the first', () => {
  const { error } = list.safeParse(Array.from({ length: 100_000 }, () => 0));
  expect(error?.issues).toHaveLength(1);
  expect(error?.issues[0]?.path).toEqual([0]);
});

test.each([
  [[], 'must be a list'],
  ['x', 'must be a list'],
  [Array.from({ length: 100_001 }, () => ({ a: 'x' })), 'must have at most 100000 items'],
])('GEN-2 a list has bounds', (value, message) => {
  expect(list.safeParse(value).error?.issues[0]?.message).toBe(message);
});

test('CHAT-1 a record has bounds, and the error names the first wrong member', () => {
  const record = recordOf(z.string(), 2);
  expect(record.safeParse({ a: 'x', b: 'y' }).data).toEqual({ a: 'x', b: 'y' });
  expect(record.safeParse({ a: 'x', b: 5, c: 'y' }).error?.issues[0]?.message).toBe('must have at most 2 members');
  expect(record.safeParse({ a: 1, b: 5 }).error?.issues).toMatchObject([{ path: ['a'] }]);
});

test('CHAT-1 an object is passed on unchanged', () => {
  const value = { deep: [1, { x: null }] };
  expect(anyObject.parse(value)).toBe(value);
  for (const other of [[], null, 'x', 1]) expect(anyObject.safeParse(other).success).toBe(false);
});
