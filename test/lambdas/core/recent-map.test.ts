import { expect, test } from 'vitest';
import { RecentMap } from '../../../lambdas/core/recent-map.ts';

test('FALL-1 a full map drops its least recently used entry', () => {
  const map = new RecentMap<number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
  expect(map.get('a')).toBe(0);
  expect(map.getOrMake('d', () => 3)).toBe(3);
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([0, undefined, 2, 3]);
  for (let index = 0; index < 1_000; index += 1) map.getOrMake(`k${index}`, () => index);
  const left = Array.from({ length: 1_000 }, (_, index) => map.get(`k${index}`));
  expect(left.filter((value) => value !== undefined)).toEqual([997, 998, 999]);
});

test('FALL-1 the newest entry can be replaced, deleted and set again', () => {
  const map = new RecentMap<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('b', 3);
  expect([map.get('b'), map.get('a')]).toEqual([3, 1]);
  map.delete('a');
  map.set('a', 4);
  map.set('c', 5);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([4, undefined, 5]);
});
