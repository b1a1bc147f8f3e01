import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mistakeIn, parseJson, refuseManyParts } from '../../../lambdas/core/json.ts';
import { randomRuns } from '../../support/random-runs.ts';

/** Fails without a mistake. */
const mistakeOf = (text: string): number | undefined => {
  try {
    parseJson(text);
  } catch (error) {
    return mistakeIn(text, error);
  }
  throw new Error(`valid: ${text}`);
};

test.for([
  ['{"a":bc}', 5],
  ['{"a":1,}', 7],
  ['[1,]', 3],
  ["{'a':1}", 1],
  ['{"a":nulL}', 8],
  ['{"a":1} x', 8],
  ['{"a":"b\nc"}', 7],
  ['{"x": " JSON at position 3", "a": NaN}', 34],
  [`["${'a'.repeat(4_000)}",True]`, 4_004],
] as const)('GEN-2 the first mistake in %j is found', ([text, offset]) => {
  expect(mistakeOf(text)).toBe(offset);
});

test('GEN-2 an unexpected token beyond the searched characters has no place', () => {
  expect(mistakeOf(`["${'a'.repeat(5_000)}",True]`)).toBeUndefined();
  expect(mistakeOf(`["${'a'.repeat(5_000)}" 1]`)).toBe(5_004);
});

test('GEN-2 every start of a JSON text is cut off, and a character after it is the first mistake', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, place) => {
      const start = `[${text}`.slice(0, 1 + (place % (text.length + 1)));
      expect(mistakeOf(start)).toBe(start.length);
      expect(mistakeOf(`[${text}] $`)).toBe(text.length + 3);
      expect(mistakeOf(`[${text},$`)).toBe(text.length + 2);
    }),
    randomRuns(import.meta.filename, { quick: 200, long: 5_000 }),
  );
});

test('ERR-9 a response of more than 5,000,000 objects is a SyntaxError before it is parsed', () => {
  const text = `[${'{},'.repeat(5_000_000)}{}]`;
  const refusal = new SyntaxError('more than 5000000 objects, arrays and member names');
  expect(() => parseJson(text)).toThrow(refusal);
  expect(() => refuseManyParts(Buffer.from(text))).toThrow(refusal);
});

test('ERR-9 a response of millions of numbers or of any text has no such limit', () => {
  for (const text of [`[${'0,'.repeat(6_000_000)}0]`, JSON.stringify('{[:'.repeat(2_000_000))])
    expect(() => refuseManyParts(Buffer.from(text))).not.toThrow();
});
