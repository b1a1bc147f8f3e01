import { expect, test } from 'vitest';
import { isSimplePattern } from '../../../../lambdas/protocols/chat-completions/schema-dialects.ts';

test.each([
  ['^[a-z]+$', true],
  ['^a{2,5}(b|c)*\\d?$', true],
  ['^(?=a)', false],
  ['(a)\\1', false],
  ['\\bword', false],
  ['\\p{L}', false],
  ['a{1,1000}', false],
  ['a{1000}', false],
  ['a{100,}', false],
  ['a+?', false],
])('CHAT-8 the pattern %s can be compiled: %j', (pattern, isSimple) => {
  expect(isSimplePattern(pattern)).toBe(isSimple);
});

test('CHAT-8 a pattern above 1,000 characters is ignored', () => {
  expect(['a'.repeat(1_000), 'a'.repeat(1_001)].map(isSimplePattern)).toEqual([true, false]);
});
