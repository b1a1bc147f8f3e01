import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsd, PICOS_PER_USD, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 200, long: 20_000 });
const LARGEST = 10n ** 15n * PICOS_PER_USD - 1n;
const amounts = fc.oneof(
  fc.bigInt({ min: -LARGEST, max: LARGEST }),
  fc.bigInt({ min: -PICOS_PER_USD * 1_000n, max: PICOS_PER_USD * 1_000n }),
  fc.bigInt({ min: -999n, max: 999n }).map((usd) => usd * PICOS_PER_USD),
);

test('BILL-15 a formatted amount parses to the same amount', () => {
  fc.assert(
    fc.property(amounts, (picos) => {
      expect(parseUsd(formatUsd(picos))).toBe(picos);
    }),
    runs,
  );
});

test('BILL-15 an amount has the shortest decimal form, without an exponent or -0', () => {
  fc.assert(
    fc.property(amounts, (picos) => {
      expect(formatUsd(picos)).toMatch(/^(0|-?(0|[1-9]\d*)\.\d*[1-9]|-?[1-9]\d*)$/);
    }),
    runs,
  );
});

test('BILL-15 an amount with trailing zeros parses to the same amount', () => {
  fc.assert(
    fc.property(amounts, fc.nat({ max: 12 }), (picos, wanted) => {
      const [whole = '', fraction = ''] = formatUsd(picos).split('.');
      const padded = fraction.padEnd(wanted, '0');
      expect(parseUsd(padded ? `${whole}.${padded}` : whole)).toBe(picos);
    }),
    runs,
  );
});

test.each([
  [0n, '0'],
  [1n, '0.000000000001'],
  [-1n, '-0.000000000001'],
  [PICOS_PER_USD, '1'],
  [PICOS_PER_USD / 10n, '0.1'],
  [12_340_000_000_000n, '12.34'],
  [-12_340_000_000_000n, '-12.34'],
  [10n ** 40n, `1${'0'.repeat(28)}`],
])('BILL-15 %s pico-USD are formatted as %s', (picos, text) => {
  expect(formatUsd(picos)).toBe(text);
});

test.each([
  '',
  ' 1',
  '1 ',
  '1\n',
  '+1',
  '--1',
  '1.',
  '.5',
  '01',
  '1e3',
  '1E-3',
  '0x10',
  '1,5',
  '1_000',
  'NaN',
  'Infinity',
  '0.0000000000001',
  '1000000000000000',
  '١',
])('BILL-3 "%s" is not an amount', (text) => {
  expect(() => parseUsd(text)).toThrow(RangeError);
});
