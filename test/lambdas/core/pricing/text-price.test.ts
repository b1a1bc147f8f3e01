import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutMarkup } from '../../../../lambdas/core/catalog/catalog.ts';
import type { TextPriceRow } from '../../../../lambdas/core/catalog/schema.ts';
import { PICOS_PER_USD } from '../../../../lambdas/core/money/usd.ts';
import { promptTokensOf, type TokenUsage } from '../../../../lambdas/core/pricing/charge.ts';
import { affordableAnswerTokens, chargeFor, maximumPrice } from '../../../../lambdas/core/pricing/text-price.ts';
import { randomRuns } from '../../../support/random-runs.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 20_000 });
const TIER = 200_000;
const bounds = { promptTokens: 1_000_000, answerTokens: 64_000 };

const flat: TextPriceRow = { unit: '1M_tokens', rates: { input: 3n, output: 7n }, tiers: [] };
const tiered: TextPriceRow = { ...flat, tiers: [{ aboveInputTokens: TIER, rates: { input: 6n, output: 11n } }] };
const usage = (changes: Partial<TokenUsage> = {}): TokenUsage => ({
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
  ...changes,
});

const count = (max: number) => fc.oneof(fc.nat({ max: 20 }), fc.nat({ max }));
const rate = fc.bigInt({ min: 0n, max: 10n ** 12n });
/** Rates that never fall from tier to tier, as with every provider. */
const rows = fc
  .array(fc.record({ input: rate, output: rate, step: fc.integer({ min: 1, max: 400_000 }) }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((steps): TextPriceRow => {
    let [input, output, above] = [0n, 0n, 0];
    const all = steps.map((step) => {
      [input, output] = [input + step.input, output + step.output];
      const row = { aboveInputTokens: above, rates: { input, output } };
      above += step.step;
      return row;
    });
    return { unit: '1M_tokens', rates: all[0]?.rates ?? flat.rates, tiers: all.slice(1) };
  });
const usages = fc.record({
  input: count(1_200_000),
  cacheRead: count(300_000),
  cacheWrite: count(300_000),
  cacheWrite1h: count(300_000),
  output: count(80_000),
  reasoning: count(80_000),
});

describe('BILL-3 charge', () => {
  test('BILL-3 a charge is usage times price, exact to the pico-USD', () => {
    const charge = chargeFor(flat, usage({ input: 1_001, output: 13 }), bounds);
    expect(charge).toEqual({
      amountPicos: 1_001n * 3n + 13n * 7n,
      prices: { input: 3n, output: 7n },
      usage: usage({ input: 1_001, output: 13 }),
      implausible: false,
      billedPicos: 1_001n * 3n + 13n * 7n,
    });
  });

  const openAi = { ...flat, rates: { input: 8n, output: 7n, cachedInput: 1n, cacheWrite: 10n } };
  const anthropic = { ...flat, rates: { input: 8n, output: 7n, cacheRead: 1n, cacheWrite5m: 10n, cacheWrite1h: 16n } };
  const used = usage({ input: 100, cacheRead: 40, cacheWrite: 30, cacheWrite1h: 20, output: 5, reasoning: 6 });

  test.for([
    ['with cache reads and writes of OpenAI', openAi, 100n * 8n + 40n + 50n * 10n + 11n * 7n],
    ['with cache reads and writes of Anthropic', anthropic, 100n * 8n + 40n + 30n * 10n + 20n * 16n + 11n * 7n],
    ['at one rate without others', flat, 190n * 3n + 11n * 7n],
  ] as const)('OPS-3 the bill of the provider is %s', ([, row, billed]) => {
    const charge = chargeFor(row, used, bounds);
    expect(charge.billedPicos).toBe(billed);
    expect(charge.amountPicos).toBe(190n * row.rates.input + 11n * 7n);
  });

  test('OPS-3 without own rates for cached tokens the bill equals the charge', () => {
    const wide = { promptTokens: 10 ** 7, answerTokens: 10 ** 7 };
    fc.assert(
      fc.property(rows, usages, fc.constantFrom('one-rate', 'cache-rates-1h'), (row, used, pricing) => {
        const charge = chargeFor(row, used, wide, pricing);
        expect(charge.billedPicos).toBe(charge.amountPicos);
      }),
      runs,
    );
  });

  test.for([
    ['equal', 0n],
    ['one pico-USD above', -1n],
    ['one pico-USD below', 1n],
  ] as const)('OPS-3 at markup 1 a bill %s gives the exact margin', ([, margin]) => {
    const rates = { input: 10n ** 12n, output: 7n, cachedInput: 10n ** 12n - margin };
    const { amountPicos, billedPicos = 0n } = chargeFor({ ...flat, rates }, usage({ cacheRead: 1 }), bounds);
    expect(amountPicos - withoutMarkup({ markup: PICOS_PER_USD }, billedPicos)).toBe(margin);
  });

  test('OPS-3 the bill has the rates of the length tier, and is unknown without usage', () => {
    const { billedPicos } = chargeFor(tiered, usage({ input: TIER, cacheWrite: 1 }), bounds);
    expect(billedPicos).toBe(BigInt(TIER + 1) * 6n);
    expect(chargeFor(flat, undefined, bounds)).toHaveProperty('billedPicos', undefined);
  });

  test('BILL-3 a charge is linear within a tier, so nothing is rounded', () => {
    fc.assert(
      fc.property(rate, rate, usages, usages, (input, output, one, other) => {
        const row = { ...flat, rates: { input, output } };
        const wide = { promptTokens: 10 ** 7, answerTokens: 10 ** 7 };
        const sum = usage({
          input: one.input + other.input,
          cacheRead: one.cacheRead + other.cacheRead,
          cacheWrite: one.cacheWrite + other.cacheWrite,
          cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
          output: one.output + other.output,
          reasoning: one.reasoning + other.reasoning,
        });
        const amount = (used: TokenUsage) => chargeFor(row, used, wide).amountPicos;
        expect(amount(sum)).toBe(amount(one) + amount(other));
      }),
      runs,
    );
  });

  test('BILL-3 a charge is exact beyond 2^53', () => {
    const row = { ...flat, rates: { input: 10n ** 12n + 1n, output: 0n } };
    const charge = chargeFor(row, usage({ input: 999_999 }), bounds);
    expect(charge.amountPicos).toBe(999_999_000_000_999_999n);
  });

  test('BILL-18 every prompt token has the same price, cached or not', () => {
    const plain = chargeFor(tiered, usage({ input: 300_000 }), bounds);
    const cached = chargeFor(tiered, usage({ input: 50_000, cacheRead: 200_000, cacheWrite: 50_000 }), bounds);
    expect(cached.amountPicos).toBe(plain.amountPicos);
    expect(cached.usage).toMatchObject({ cacheRead: 200_000 });
  });

  test('BILL-11 reasoning tokens are charged as output, once', () => {
    expect(chargeFor(flat, usage({ output: 10, reasoning: 90 }), bounds).amountPicos).toBe(700n);
  });

  test("BILL-5 a prompt above a tier's bound costs the tier's rates for the whole request", () => {
    const at = (input: number) => chargeFor(tiered, usage({ input, output: 1 }), bounds);
    expect(at(TIER).amountPicos).toBe(BigInt(TIER) * 3n + 7n);
    expect(at(TIER + 1).amountPicos).toBe(BigInt(TIER + 1) * 6n + 11n);
    expect(at(TIER + 1).prices).toEqual({ input: 6n, output: 11n });
  });

  test('BILL-10 missing usage charges no tokens, and a price of 0 is valid', () => {
    expect(chargeFor(flat, undefined, bounds)).toMatchObject({ amountPicos: 0n, usage: {}, implausible: false });
    const free = { ...flat, rates: { input: 0n, output: 0n } };
    expect(chargeFor(free, usage({ input: 5, output: 5 }), bounds).amountPicos).toBe(0n);
  });
});

describe('BILL-7 implausible counts', () => {
  test.each([
    ['a prompt', { input: bounds.promptTokens + 1 }, BigInt(bounds.promptTokens) * 6n],
    ['an output', { output: bounds.answerTokens, reasoning: 1 }, BigInt(bounds.answerTokens) * 7n],
  ])(
    'BILL-7 %s above its bound is charged at the bound, flagged and recorded as reported',
    (_name, counts, amountPicos) => {
      const charge = chargeFor(tiered, usage(counts), bounds);
      expect(charge).toMatchObject({ amountPicos, implausible: true, usage: usage(counts) });
    },
  );

  test('BILL-7 counts at their bounds are plausible', () => {
    const charge = chargeFor(tiered, usage({ input: bounds.promptTokens, output: bounds.answerTokens }), bounds);
    expect(charge.implausible).toBe(false);
  });
});

describe('BILL-5 maximum price', () => {
  test('BILL-5 the maximum price covers every charge within the estimate', () => {
    fc.assert(
      fc.property(rows, usages, (row, used) => {
        const prompt = promptTokensOf(used);
        const answer = used.output + used.reasoning;
        const most = { promptTokens: prompt, answerTokens: answer };
        expect(chargeFor(row, used, most).amountPicos).toBe(maximumPrice(row, prompt, answer));
        for (const [more, further] of [
          [0, 1],
          [1, 0],
          [400_000, 1_000],
        ] as const) {
          const charge = chargeFor(row, used, { promptTokens: 10 ** 7, answerTokens: 10 ** 7 });
          expect(maximumPrice(row, prompt + more, answer + further)).toBeGreaterThanOrEqual(charge.amountPicos);
        }
      }),
      runs,
    );
  });

  test('BILL-7 the maximum price covers every charge within its bounds, even for implausible usage', () => {
    fc.assert(
      fc.property(rows, usages, count(1_000_000), count(64_000), (row, used, promptTokens, answerTokens) => {
        const charge = chargeFor(row, used, { promptTokens, answerTokens });
        expect(charge.amountPicos).toBeLessThanOrEqual(maximumPrice(row, promptTokens, answerTokens));
      }),
      runs,
    );
  });
});

describe('BILL-6 affordable tokens', () => {
  test('BILL-6 the affordable tokens are the largest output that the amount covers', () => {
    fc.assert(
      fc.property(rows, count(1_000_000), fc.bigInt({ min: 0n, max: 10n ** 17n }), (row, promptTokens, amountPicos) => {
        const tokens = affordableAnswerTokens(row, promptTokens, amountPicos);
        if (tokens < 0) expect(maximumPrice(row, promptTokens, 0)).toBeGreaterThan(amountPicos);
        else if (tokens < Number.MAX_SAFE_INTEGER) {
          expect(maximumPrice(row, promptTokens, tokens)).toBeLessThanOrEqual(amountPicos);
          expect(maximumPrice(row, promptTokens, tokens + 1)).toBeGreaterThan(amountPicos);
        }
      }),
      runs,
    );
  });

  test("BILL-6 affordable tokens are -1 below the prompt's price, and unlimited if output is free", () => {
    expect(affordableAnswerTokens(flat, 10, 29n)).toBe(-1);
    expect(affordableAnswerTokens(flat, 10, 30n)).toBe(0);
    expect(affordableAnswerTokens(flat, 10, -1n)).toBe(-1);
    const free = { ...flat, rates: { input: 0n, output: 0n } };
    expect(affordableAnswerTokens(free, 10, 0n)).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('BILL-12 cache rates of Messages', () => {
  const own: TextPriceRow = {
    ...flat,
    rates: { input: 100n, output: 7n, cacheWrite5m: 125n, cacheWrite1h: 200n, cacheRead: 5n },
    tiers: [{ aboveInputTokens: 1_000, rates: { input: 500n, output: 35n } }],
  };
  const mixed = usage({ input: 10, cacheRead: 20, cacheWrite: 30, cacheWrite1h: 40, output: 1 });

  test('BILL-12 each part of a prompt has its own rate, and the record keeps the parts', () => {
    const charge = chargeFor(own, mixed, bounds, 'cache-rates-1h');
    expect(charge.amountPicos).toBe(10n * 100n + 20n * 5n + 30n * 125n + 40n * 200n + 7n);
    expect(charge.prices).toEqual({ input: 100n, output: 7n, cacheRead: 5n, cacheWrite: 125n, cacheWrite1h: 200n });
    expect(charge.usage).toEqual(mixed);
  });

  test('BILL-12 default cache rates are 1.25, 2 and 0.1 times input, in a tier as well', () => {
    const long = { ...mixed, input: 1_000 };
    const expected = 1_000n * 500n + 20n * 50n + 30n * 625n + 40n * 1_000n + 35n;
    expect(chargeFor(own, long, bounds, 'cache-rates').amountPicos).toBe(expected);
  });

  test('BILL-18 the same usage in other formats costs one rate for every prompt token', () => {
    const charge = chargeFor(own, mixed, bounds);
    expect(charge.amountPicos).toBe(100n * 100n + 7n);
    expect(charge.prices).toEqual({ input: 100n, output: 7n });
  });

  test.for([
    ['one-rate', 100n],
    ['cache-rates', 100n],
    ['cache-rates-5m', 125n],
    ['cache-rates-1h', 200n],
  ] as const)('BILL-5 a prompt priced by %s is held at its highest rate', ([pricing, rateMost]) => {
    expect(maximumPrice(own, 100, 10, pricing)).toBe(100n * rateMost + 70n);
    expect(affordableAnswerTokens(own, 100, 100n * rateMost + 20n, pricing)).toBe(2);
    expect(affordableAnswerTokens(own, 100, 100n * rateMost - 1n, pricing)).toBe(-1);
  });

  test('BILL-7 a prompt above the context is charged at the bound, the cheapest parts first', () => {
    const charge = chargeFor(own, mixed, { promptTokens: 55, answerTokens: 0 }, 'cache-rates-1h');
    expect(charge.amountPicos).toBe(20n * 5n + 10n * 100n + 25n * 125n);
    expect(charge.implausible).toBe(true);
  });
});
