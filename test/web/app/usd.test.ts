import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as core from '../../../lambdas/core/money/usd.ts';
import { addUsd, formatPicos, parseUsd, readTypedUsd, usdText, writeUsd } from '../../../web/app/usd.ts';
import { randomRuns } from '../../support/random-runs.ts';

describe('amounts on a page', () => {
  test('KEY-4 amounts are formatted, parsed and added exactly, as in the gateway', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (picos) => {
        expect(formatPicos(picos)).toBe(core.formatUsd(picos));
        expect(parseUsd(core.formatUsd(picos))).toBe(picos);
      }),
      randomRuns(import.meta.filename, { quick: 100, long: 2_000 }),
    );
    expect(addUsd(['0.1', '0.2', '-0.000000000001'])).toBe('0.299999999999');
    for (const text of ['', '1e3', '.5', '1.', '0.0000000000001', 'NaN']) expect(() => parseUsd(text)).toThrow();
  });

  test.each([
    ['0', '$0', '0\u00a0$'],
    ['8', '$8', '8\u00a0$'],
    ['0.5', '$0.50', '0,50\u00a0$'],
    ['0.075', '$0.075', '0,075\u00a0$'],
    ['1234567.000000000001', '$1,234,567.000000000001', '1\u00a0234\u00a0567,000000000001\u00a0$'],
    ['-12.5', '\u2212$12.50', '\u221212,50\u00a0$'],
  ])('KEY-4 %s is shown exactly', (amount, en, ru) => {
    expect(usdText(amount, { language: 'en' })).toBe(en);
    expect(usdText(amount, { language: 'ru' })).toBe(ru);
  });

  test('KEY-4 usdText shows cents on request, and writeUsd separates the digits after them', () => {
    expect(usdText('8', { language: 'en', withCents: true })).toBe('$8.00');
    expect(writeUsd('1.23456', { language: 'en' })).toEqual({ before: '$', main: '1.23', rest: '456', after: '' });
  });

  test.each([
    ['2.5', '2.5'],
    [' 2,50 ', '2.5'],
    ['$3', '3'],
    ['3 $', '3'],
    ['0', '0'],
    ['007', '7'],
    ['-1', undefined],
    ['1e3', undefined],
    ['1,000.5', undefined],
    ['', undefined],
    ['много', undefined],
  ])('KEY-4 the threshold input %j is read as %j', (typed, amount) => {
    expect(readTypedUsd(typed)).toBe(amount);
  });
});
