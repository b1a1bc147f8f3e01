import { expect, test } from 'vitest';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import { chooseOutputLimit } from '../../../../lambdas/core/text/output-limit.ts';
import { load, text } from '../catalog/sample-data.ts';
import { NOW, textModel } from './text-models.ts';
import { ACCOUNT, createWorld, requestOf, type WorldOptions } from './text-world.ts';

const DEFAULT = 1_000;
const MAX = 3_000_000;
const limits = { contextTokens: 4_000_000, outputTokensMax: MAX, outputTokensDefault: DEFAULT };
const model = textModel({ limits });
const row = load([text({ limits })]).priceRow(model, NOW);

/** The limit for a prompt of 100 tokens, at 40 USD per million output tokens. */
const limitOf = (changes: Partial<TextRequest>, availableUsd: string | undefined): number => {
  const request = requestOf({ stream: true, effort: 'high', ...changes });
  return chooseOutputLimit(
    { model, row, request },
    100,
    availableUsd === undefined ? undefined : parseUsd(availableUsd),
  );
};

test.for<[what: string, changes: Partial<TextRequest>, availableUsd: string | undefined, limit: number]>([
  ['a quarter of the available amount', {}, '40', 250_000],
  ['a quarter for all choices together', { choices: 2 }, '40', 125_000],
  ['for effort xhigh', { effort: 'xhigh' }, '40', 250_000],
  ['for effort max', { effort: 'max' }, '40', 250_000],
  ['the default for effort medium', { effort: 'medium' }, '40', DEFAULT],
  ['the default without an effort', { effort: undefined }, '40', DEFAULT],
  ['the default while the balance is not known', {}, undefined, DEFAULT],
  ['at least the default', {}, '0.01', DEFAULT],
  ['at least the default below 0', {}, '-5', DEFAULT],
  // The prompt takes 100 of the 12,500,000 / 5 tokens that 100 USD pay for.
  ['a hold of 100 USD', {}, '9000', 2_499_980],
  ['what a plain response can have', { stream: false }, '9000', 419_430],
  ['what a plain response with logprobs can have', { stream: false, logprobsPerToken: 1 }, '9000', 119_837],
])('BILL-6 a high effort has an output limit of %s', ([_what, changes, availableUsd, limit]) => {
  expect(limitOf(changes, availableUsd)).toBe(limit);
});

test('BILL-6 a high effort has at most the output limit of the model', () => {
  const small = textModel({ limits: { ...limits, outputTokensMax: 5_000 } });
  const request = requestOf({ effort: 'high' });
  expect(chooseOutputLimit({ model: small, row, request }, 100, parseUsd('900'))).toBe(5_000);
});

/** Returns the output limit of each request, one after another, and the store calls before each provider call. */
const limitsOf = async (requests: number, options: WorldOptions = {}) => {
  const world = await createWorld({ remembersFunds: true, models: [text({ limits })], ...options });
  const chosen: (number | undefined)[] = [];
  for (let sent = 0; sent < requests; sent += 1) {
    const generated = await world.ask({ effort: 'high' });
    chosen.push(generated.chosenCap);
  }
  return { ...world, chosen };
};

test('BILL-6 from its second request on, an account has a quarter of its available amount', async () => {
  const { chosen, sent, log } = await limitsOf(3, { usd: '40' });
  const [first, second = 0, third = 0] = chosen;
  expect([first, second > 249_000, third < second]).toEqual([DEFAULT, true, true]);
  expect(sent.map(({ outputTokensMax }) => outputTokensMax)).toEqual(chosen);
  expect(log.filter((call) => call === 'hold')).toHaveLength(3);
});

test('BILL-6 a limit that is no longer affordable becomes a quarter of what is left', async () => {
  const { memory, ask, chosen } = await limitsOf(2, { usd: '40' });
  expect(chosen[1]).toBeGreaterThan(249_000);
  await memory.credit({ accountId: ACCOUNT, ref: 'debit', amountPicos: parseUsd('-36'), reason: 'test', at: NOW });
  const { chosenCap = 0 } = await ask({ effort: 'high' });
  expect(chosenCap).toBeLessThan(25_000);
  expect(chosenCap).toBeGreaterThan(24_000);
});

test('BILL-6 KEY-9 a quarter of the rest of a cap is held, without a second store call', async () => {
  const cap = { keyId: 'k', kind: 'total', epoch: 2 } as const;
  const world = await limitsOf(0, { cap });
  world.memory.setCap(ACCOUNT, 'k', { limitPicos: parseUsd('4'), kind: 'total' }, 0);
  await world.ask({ effort: 'high' });
  expect(await world.ask({ effort: 'high' })).toMatchObject({ chosenCap: 25_000 });
  expect(world.log.filter((call) => call === 'hold')).toHaveLength(2);
});
