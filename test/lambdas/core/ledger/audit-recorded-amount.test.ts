import fc from 'fast-check';
import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { textModelOf } from '../../../../lambdas/core/catalog/text-model.ts';
import { recordedAmount } from '../../../../lambdas/core/ledger/audit.ts';
import type { ChargeRecord } from '../../../../lambdas/core/ledger/ledger.ts';
import type { Charge } from '../../../../lambdas/core/pricing/charge.ts';
import { chargeFor } from '../../../../lambdas/core/pricing/text-price.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 500, long: 50_000 });

const recordOf = ({ amountPicos, prices, usage, implausible }: Charge): ChargeRecord => ({
  accountId: 'account-1',
  holdId: 'request-1.0',
  requestId: 'request-1',
  outcome: 'settled',
  amountPicos,
  at: 0,
  prices,
  usage,
  implausible,
});
const of = (usage: Charge['usage'], prices: Charge['prices'], implausible = false) =>
  recordedAmount(recordOf({ amountPicos: 0n, usage, prices, implausible }));

test('BILL-3 the recorded amount is the sum of counts times the prices of the same names', () => {
  expect(of({ image: 3, inputImage: 2 }, { image: 7n, inputImage: 5n })).toBe(31n);
  expect(
    of(
      { firstMegapixel: 1, extraMilliMegapixel: 500, referenceMilliMegapixel: 2 },
      { firstMegapixel: 1_000n, extraMilliMegapixel: 2n, referenceMilliMegapixel: 3n },
    ),
  ).toBe(2_006n);
  expect(of({ second: 61 }, { second: 75n })).toBe(4_575n);
  expect(of({ character: 4_096 }, { character: 15n })).toBe(61_440n);
});

test('BILL-3 tokens without their own price have the price of text tokens', () => {
  const usage = {
    input: 1,
    cacheRead: 2,
    imageInput: 4,
    cachedImageInput: 8,
    audioInput: 16,
    output: 32,
    reasoning: 64,
  };
  expect(of({ ...usage, imageOutput: 128 }, { input: 1n, output: 1_000n })).toBe(31n + 224_000n);
  expect(of({ ...usage, imageOutput: 128 }, { input: 1n, imageInput: 100n, output: 0n, imageOutput: 10n })).toBe(
    27n + 400n + 1_280n,
  );
});

test('BILL-7 an implausible or incomplete record has no recorded amount to compare', () => {
  expect(of({ image: 1 }, { image: 1n }, true)).toBeUndefined();
  expect(of({ image: 1, stamp: 1 }, { image: 1n })).toBeUndefined();
  expect(of({ image: 1 }, { image: 1n, stamp: 1n })).toBeUndefined();
});

const catalog = loadCatalog(catalogData);
const NOW = Date.UTC(2026, 10, 20);
const texts = catalog.entries.flatMap((model) => textModelOf(model) ?? []);

const count = fc.nat({ max: 2_000 });
const usages = fc.record({
  ...{ input: count, cacheRead: count, cacheWrite: count, cacheWrite1h: count, output: count, reasoning: count },
  ...{ imageInput: count, cachedImageInput: count, audioInput: count, imageOutput: count },
});

test('BILL-3 the recorded amount of any text model equals its charge, for every prompt pricing', () => {
  const pricings = fc.constantFrom('one-rate', 'cache-rates', 'cache-rates-1h');
  fc.assert(
    fc.property(fc.constantFrom(...texts), usages, pricings, (model, usage, pricing) => {
      const row = model.prices.find(({ until }) => until === undefined) ?? catalog.priceRow(model, NOW);
      const bounds = { promptTokens: model.limits.contextTokens, answerTokens: model.limits.outputTokensMax };
      const charge = chargeFor(row, usage, bounds, pricing);
      const expected = charge.implausible ? undefined : charge.amountPicos;
      expect(recordedAmount(recordOf(charge))).toBe(expected);
    }),
    runs,
  );
});
