import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTokens, splitTokens } from '../../../local/simulators/tokens.ts';
import { randomRuns } from '../../support/random-runs.ts';

test('the pieces of a text add up to the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(splitTokens(text).join('')).toBe(text);
      expect(countTokens(text)).toBe(splitTokens(text).length);
    }),
    randomRuns(import.meta.filename, { quick: 50, long: 1_000 }),
  );
});

test('the count is close to that of a tokenizer', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('The quick brown fox')).toBe(4);
  expect(countTokens('日本語')).toBe(3);
  expect(countTokens('привет мир')).toBe(4);
  expect(countTokens('a'.repeat(1_000_000))).toBe(200_000);
});
