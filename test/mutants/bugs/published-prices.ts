import { bugsIn, type MoneyBug } from './money-bug.ts';

export const publishedPriceBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/core/price-list/published-prices.ts', 'test/lambdas/core/price-list/published-prices.test.ts', [
    {
      id: 'published-cache-price-not-charged',
      what: 'The price list has cache prices for chat completions, which charge them as input.',
      find: "lengthBands(row, 'one-rate')",
      replace: "lengthBands(row, 'cache-rates')",
    },
    {
      id: 'published-tier-at-the-short-price',
      what: 'The price list has the prices of a short prompt for long prompts.',
      find: 'above === undefined ? 0 : above + 1',
      replace: '0',
    },
  ]),
  ...bugsIn('lambdas/core/images/image-examples.ts', 'test/lambdas/core/price-list/price-examples.test.ts', [
    {
      id: 'example-of-another-quality',
      what: 'An example has the price of another quality.',
      find: 'pricePerImage(row, chosen, quality)',
      replace: "pricePerImage(row, chosen, quality && 'low')",
    },
  ]),
  ...bugsIn('lambdas/core/pricing/text-price.ts', 'test/lambdas/core/pricing/text-price.test.ts', [
    {
      id: 'bill-without-cache-writes',
      what: 'The cost of a request has cache writes at the price of input.',
      find: 'rates.cacheWrite5m ?? rates.cacheWrite ?? defaults',
      replace: 'rates.cacheWrite5m ?? defaults',
    },
    {
      id: 'bill-without-default-cache-rates',
      what: 'The cost of a request on messages has cache reads at the price of input, and an alarm reports a loss.',
      find: "const defaults = pricing === 'one-rate' ? undefined :",
      replace: 'const defaults = pricing ? undefined :',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/settle.ts', 'test/lambdas/core/text/generate-text.test.ts', [
    {
      id: 'cost-with-the-markup',
      what: 'The recorded cost of a request includes the markup, so a loss stays unseen.',
      find: 'withoutMarkup(catalog, billedPicos)',
      replace: 'billedPicos',
    },
  ]),
  ...bugsIn('lambdas/protocols/account/usage-row.ts', 'test/lambdas/protocols/account/usage-row.test.ts', [
    {
      id: 'receipt-without-derived-prices',
      what: 'A receipt has no price for cached tokens that are charged as input.',
      find: 'priceOfCount(count, prices)',
      replace: 'prices[count] ?? 0n',
    },
  ]),
  ...bugsIn('lambdas/core/catalog/catalog.ts', 'test/lambdas/core/paid-call/route-model-choose-model.test.ts', [
    {
      id: 'suggestion-of-another-endpoint',
      what: 'An unknown model gets the name of a model that its endpoint cannot call.',
      find: '!protocol || protocols.includes(protocol)',
      replace: '!protocol || protocols.length > 0',
    },
  ]),
  ...bugsIn('lambdas/core/images/size-rules.ts', 'test/lambdas/core/images/choose-size.test.ts', [
    {
      id: 'nearest-size-by-ratio',
      what: 'A wrong size gets a size of the same shape although another is nearer.',
      find: 'const SHAPE_WEIGHT = 1e-8;',
      replace: 'const SHAPE_WEIGHT = 1e6;',
    },
  ]),
];
