import { expect, test } from 'vitest';
import { createMemoryCheck } from '../../local/release-memory.ts';

const MiB = 1_024 * 1_024;

/** Returns which of the checks collect garbage, if each sees this memory in MiB. */
const collectedAt = (sizes: readonly number[]): readonly number[] => {
  const collected: number[] = [];
  let at = 0;
  const check = createMemoryCheck({
    used: () => (sizes[at] ?? 0) * MiB,
    collect: () => collected.push(at),
  });
  for (; at < sizes.length; at += 1) check();
  return collected;
};

test.each([
  ['a quiet process', [50, 60, 82, 50], []],
  ['a peak', [50, 83, 50, 50], [1]],
  ['a peak that lasts', [50, 200, 200, 60], [1, 2]],
  ['values that stay in use', [50, ...Array.from({ length: 21 }, () => 200)], [1, 2, 4, 7, 12, 21]],
  ['a start that needed more memory', [90, 50, 90], [2]],
] as const)('GEN-14 %s of %j MiB collects garbage at %j', (_, sizes, expected) => {
  expect(collectedAt(sizes)).toEqual(expected);
});
