import { expect, test } from 'vitest';
import { RecentMap } from '../../../../lambdas/core/circuit/recent-map.ts';

test('FALL-5 of too many entries those go that were not asked for longest', () => {
  const map = new RecentMap<number>(3);
  for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
  expect(map.get('a')).toBe(0);
  expect(map.getOrMake('d', () => 3)).toBe(3);
  expect(['a', 'b', 'c', 'd'].map((key) => map.get(key))).toEqual([0, undefined, 2, 3]);
  for (let index = 0; index < 1_000; index += 1) map.getOrMake(`k${index}`, () => index);
  expect(map.size).toBe(3);
});
