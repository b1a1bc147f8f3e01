import { bugsIn, type MoneyBug } from './money-bug.ts';

const budgetTests = 'test/lambdas/core/text/generate-text-budget.test.ts';

const chargeBugs = bugsIn('lambdas/core/pricing/text-price.ts', 'test/lambdas/core/pricing/text-price.test.ts', [
  {
    id: 'charge-in-floats',
    what: 'A charge is computed in floating point.',
    find: 'sum += BigInt(billed) * rate;',
    replace: 'sum += BigInt(Math.round(billed * Number(rate)));',
  },
  {
    id: 'charge-rounded',
    what: 'A charge is rounded up to whole micro-dollars.',
    find: 'amountPicos: priceOf(parts, bounds.promptTokens) + priceOf(answerParts, bounds.answerTokens),',
    replace:
      'amountPicos: ((priceOf(parts, bounds.promptTokens) + priceOf(answerParts, bounds.answerTokens) + 999_999n) / 1_000_000n) * 1_000_000n,',
  },
  {
    id: 'tier-without-cached-tokens',
    what: 'The price tier depends on the uncached tokens, not on the length of the prompt.',
    find: 'const rates = ratesAt(row, promptLength);',
    replace: 'const rates = ratesAt(row, Math.min(usage?.input ?? 0, promptLength));',
  },
  {
    id: 'hold-at-the-lowest-tier',
    what: 'A long prompt is held at the rates of a short one.',
    find: 'const rates = ratesAt(row, promptTokens);\n  return (',
    replace: 'const rates = ratesAt(row, 0);\n  return (',
  },
  {
    id: 'answer-without-bound',
    what: 'An implausible count of output tokens is charged in full.',
    find: 'priceOf(answerParts, bounds.answerTokens)',
    replace: 'priceOf(answerParts, answer)',
  },
  {
    id: 'prompt-without-bound',
    what: 'An implausible count of prompt tokens is charged in full.',
    find: 'const billed = Math.min(tokens, left);',
    replace: 'const billed = tokens;',
  },
  {
    id: 'hour-at-the-price-of-minutes',
    what: 'Writing to a cache for an hour costs the same as for five minutes.',
    find: '{ tokens: usage.cacheWrite1h, rate: cacheWrite1h },',
    replace: '{ tokens: usage.cacheWrite1h, rate: cacheWrite5m },',
  },
  {
    id: 'hold-without-cache-writes',
    what: 'The hold of a prompt omits the price of a cache write.',
    find: "if (pricing !== 'cache-rates') possible.push(cacheWrite5m);",
    replace: '',
  },
  {
    id: 'one-token-too-affordable',
    what: 'A reduced hold covers one token more than the balance.',
    find: 'Number(left / rate)',
    replace: 'Number(left / rate) + 1',
  },
]);

const usageBugs = [
  ...bugsIn('lambdas/core/pricing/charge.ts', 'test/lambdas/core/pricing/text-price.test.ts', [
    {
      id: 'reasoning-for-nothing',
      what: 'Reasoning tokens are not charged.',
      find: 'usage.output + usage.reasoning',
      replace: 'usage.output',
    },
  ]),
  ...bugsIn('lambdas/providers/openai/token-usage.ts', 'test/lambdas/providers/openai/chat-wire-usage.test.ts', [
    {
      id: 'cached-tokens-twice',
      what: 'Cached tokens are charged twice: as cached and as input.',
      find: 'input: prompt - cacheRead - cacheWrite,',
      replace: 'input: prompt,',
    },
    {
      id: 'reasoning-twice',
      what: 'Reasoning tokens are charged twice: as reasoning and as output.',
      find: 'output: answer - thought,',
      replace: 'output: answer,',
    },
    {
      id: 'reasoning-beside-for-nothing',
      what: 'Reasoning that a server reports beside the completion is not charged.',
      find: '    case undefined:\n      return rest;',
      replace: '    case undefined:\n      return 0;',
    },
    {
      id: 'row-of-reasoning-ignored',
      what: 'Reasoning is charged twice although the row of the provider says that it is included.',
      find: "    case 'included':\n      return 0;",
      replace: "    case 'included':\n      return rest;",
    },
  ]),
  ...bugsIn('lambdas/core/circuit/quarantine.ts', 'test/lambdas/core/circuit/quarantine.test.ts', [
    {
      id: 'quarantine-of-a-wrong-clock-stays',
      what: 'A quarantine that was stored while the clock was ahead blocks the next one until it is over.',
      find: 'if (untilMs > now && !this.isShut(modelId))',
      replace: 'if (untilMs < 0)',
    },
    {
      id: 'one-account-disables-a-model',
      what: 'One account can disable a model for all others.',
      find: 'const ACCOUNTS_MIN = 2;',
      replace: 'const ACCOUNTS_MIN = 1;',
    },
  ]),
  ...bugsIn('lambdas/providers/merge-usage.ts', 'test/lambdas/providers/merge-usage.test.ts', [
    {
      id: 'later-zero-erases-a-count',
      what: 'A prompt is free if the last event of a stream reports 0 tokens for it.',
      find: 'Math.max(earlier, later)',
      replace: 'later',
    },
  ]),
  ...bugsIn('lambdas/core/pricing/charge.ts', 'test/lambdas/core/paid-call/settle-missing-usage.test.ts', [
    {
      id: 'zeros-are-a-usage',
      what: 'A provider that reports zeros gives everything away without an event.',
      find: 'Object.values(usage).every((count) => count === 0)',
      replace: 'Object.values(usage).length === 0',
    },
  ]),
];

const blockedBugs = bugsIn(
  'lambdas/providers/openai/chat-wire.ts',
  'test/lambdas/providers/openai/chat-wire-stream-errors.test.ts',
  [
    {
      id: 'blocked-stream-free',
      what: 'A stream that a filter stops after content is not charged, although its usage is known.',
      find: 'if (this.isBlocked && this.opening) throw filtered(this.usage);',
      replace: 'if (this.isBlocked) throw filtered(this.usage);',
    },
    {
      id: 'blocked-stream-without-usage-complete',
      what: 'A stream that a filter stops without usage ends as complete and is charged 0.',
      find: 'if (isBlocked && !usage) throw filtered();',
      replace: '',
    },
  ],
);

const holdBugs = bugsIn('lambdas/core/text/text-hold.ts', budgetTests, [
  {
    id: 'prompt-plausible-up-to-the-context',
    what: 'A wrong count of a short prompt is charged up to the context of the model.',
    find: 'promptTokens: promptTokensPlausible(model, request)',
    replace: 'promptTokens: model.limits.contextTokens',
  },
  {
    id: 'answers-not-multiplied',
    what: 'A request for several choices is held as one choice.',
    find: 'maximumPrice(row, tokens, cap * choices, promptPricing, imageTokens)',
    replace: 'maximumPrice(row, tokens, cap, promptPricing, imageTokens)',
  },
  {
    id: 'answers-not-divided',
    what: 'The affordable token cap is that of one choice, even for several.',
    find: '(row, tokens, availablePicos, promptPricing) / choices)',
    replace: '(row, tokens, availablePicos, promptPricing))',
  },
  {
    id: 'bound-of-one-answer',
    what: 'Several choices together are charged up to the cap of one.',
    find: ': cap * choices;\n  const bounds',
    replace: ': cap;\n  const bounds',
  },
  {
    id: 'budget-not-checked',
    what: 'A request can hold more than 100 USD.',
    find: 'refuseAboveBudget(amountPicos, capParam,',
    replace: 'refuseAboveBudget(0n, capParam,',
  },
  {
    id: 'cap-of-the-client-lowered',
    what: 'The gateway lowers the token cap of the client to the affordable one.',
    find: '...(isOurs ? { smaller } : {})',
    replace: 'smaller',
  },
  {
    id: 'cap-of-the-first-hold',
    what: 'The cap sent to the provider is that of the rejected hold, not of the smaller one.',
    find: 'cap = affordable;',
    replace: '',
  },
]);

const plausibleBugs = bugsIn(
  'lambdas/core/text/token-estimate.ts',
  'test/lambdas/core/text/token-estimate-prompt-tokens.test.ts',
  [
    {
      id: 'normalized-prompt-implausible',
      what: 'A prompt that grows when Claude normalizes it is charged below its cost.',
      find: 'factor > 1 ? Math.max(factor, NORMALIZED_GROWTH_MAX) : 1',
      replace: 'factor',
    },
  ],
);

const inputBugs = bugsIn('lambdas/core/inputs/paid-input.ts', 'test/lambdas/core/inputs/embed.test.ts', [
  {
    id: 'input-without-bound',
    what: 'An implausible count of input tokens is charged in full.',
    find: 'BigInt(Math.min(tokens, tokensMax)) * rate',
    replace: 'BigInt(tokens) * rate',
  },
  {
    id: 'input-charged-by-the-estimate',
    what: 'An input without reported usage is charged at its estimate.',
    find: 'const tokens = usage ? promptTokensOf(usage) : 0;',
    replace: 'const tokens = usage ? promptTokensOf(usage) : tokensMax;',
  },
]);

const bucketBugs = bugsIn('lambdas/core/limits/rate-limit.ts', 'test/lambdas/core/limits/rate-limit-gcra.test.ts', [
  {
    id: 'burst-of-one-more',
    what: 'A rate limit admits one request more than its burst.',
    find: '(bucket.burst - 1) * bucket.intervalMicros',
    replace: 'bucket.burst * bucket.intervalMicros',
  },
  {
    id: 'idle-time-saved-up',
    what: 'A rate limit that was idle admits any number of requests.',
    find: 'Math.max(possibleMicros, nowMicros) + bucket.intervalMicros',
    replace: 'possibleMicros + bucket.intervalMicros',
  },
  {
    id: 'bucket-full-until-a-later-clock',
    what: 'A clock that was ahead for a moment rejects every request until that time.',
    find: 'isPossible(bucket, tatMicros, nowMicros) ? tatMicros : furthestTatMicros(bucket, nowMicros);',
    replace: 'tatMicros;',
  },
]);

const preparedTests = 'test/lambdas/core/catalog/prepared-catalog.test.ts';

const preparedBugs = bugsIn('lambdas/core/catalog/prepared-catalog.ts', preparedTests, [
  {
    id: 'prepared-price-without-markup',
    what: 'A deployed function sells at prices without the markup.',
    find: 'const product = BigInt(picos) * markup;',
    replace: 'const product = BigInt(picos) * PICOS_PER_USD;',
  },
  {
    id: 'prepared-price-rounded',
    what: 'A deployed function rounds a price that its markup makes inexact.',
    find: 'product % (PICOS_PER_USD * sharesIn(row.unit)) === 0n',
    replace: 'product >= 0n',
  },
]);

export const priceBugs: readonly MoneyBug[] = [
  ...chargeBugs,
  ...usageBugs,
  ...blockedBugs,
  ...holdBugs,
  ...plausibleBugs,
  ...inputBugs,
  ...bucketBugs,
  ...preparedBugs,
];
