import { expect, test } from 'vitest';
import { nearestOf } from '../../../lambdas/core/nearest.ts';

test.each([
  ['kitten', ['sitting', 'mitten'], 'mitten'],
  ['', ['abc', 'ab'], undefined],
  ['abc', ['abd', 'abe'], 'abd'],
  // Three edits of ten characters are more than a third of nine.
  ['flux-2-pr', ['flux-3-max', 'flux-2-xyz'], 'flux-2-xyz'],
  ['flux-2-pr', ['flux-3-xyz'], undefined],
  ['nope', ['node-1', 'flux-2-pro'], undefined],
  // Ids are compared up to their 128th character.
  [`${'a'.repeat(128)}${'b'.repeat(300)}`, ['b'.repeat(300), 'a'.repeat(128)], 'a'.repeat(128)],
])('CAT-6 the text nearest to "%s" is found', (wanted, candidates, expected) => {
  expect(nearestOf(wanted, candidates)).toBe(expected);
});
