import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { balanceOf } from '../../../../lambdas/core/ledger/ledger.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import type { PromptSize } from '../../../../lambdas/core/text/conversation.ts';
import { promptTokensAtMost } from '../../../../lambdas/core/text/token-estimate.ts';
import { price, text } from '../catalog/sample-data.ts';
import { answeredIn } from './sink.ts';
import { textModel } from './text-models.ts';
import { answered, createWorld, heldFor, INPUT_PICOS, OUTPUT_PICOS, PROMPT, REQUEST, used } from './text-world.ts';

const start = parseUsd('1000');

test('GEN-8 a response takes one store call before the upstream call and two after it', async () => {
  const world = await createWorld();
  await world.ask();
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect(world.clock.waiting).toBe(0);
});

test.for([
  ['1', -1_000_000n],
  ['1.25', 0n],
  ['2', 3_000_000n],
] as const)('OPS-3 at a markup of %s the record has the bill, and the margin is counted', async ([markup, margin]) => {
  const prices = [price({ rates: { input: '4', output: '8', cacheWrite: '5' } })];
  const play = async () =>
    answered({ input: 0, cacheRead: 0, cacheWrite: 1, cacheWrite1h: 0, output: 0, reasoning: 0 });
  const world = await createWorld({ models: [text({ prices })], markup, play });
  await world.ask();
  expect(world.records()).toMatchObject([{ costPicos: 5_000_000n }]);
  expect(world.margins).toEqual([['alpha-1', margin]]);
});

test('OPS-3 a released request has no bill and no margin', async () => {
  const world = await createWorld({
    play: async () => {
      throw new GatewayError('upstream_error', 'failed');
    },
  });
  await expect(world.ask()).rejects.toThrow('failed');
  expect(world.records()[0]).not.toHaveProperty('costPicos');
  expect(world.margins).toEqual([]);
});

test('BILL-1 the amount is held and not spent while the upstream call runs', async () => {
  const world = await createWorld({
    play: async () => {
      const { availablePicos, spentPicos, holds } = await world.account();
      expect([availablePicos, spentPicos]).toEqual([start - heldFor(100), 0n]);
      expect([...holds.values()]).toEqual([
        { amountPicos: heldFor(100), expiresAtMs: world.clock.now() + 600_000 + 300_000 },
      ]);
      return answered();
    },
  });
  await world.ask();
  expect(world.sent).toHaveLength(1);
});

test('BILL-3, OPS-3 the charge is the usage at the prices of the hold, and the rest is released', async () => {
  const world = await createWorld({
    play: async () => answered({ input: 30, cacheRead: 7, cacheWrite: 2, cacheWrite1h: 1, output: 6, reasoning: 4 }),
  });
  const { receipt, model } = answeredIn(await world.ask({}, { endUser: 'someone' }));
  const cost = 40n * INPUT_PICOS + 10n * OUTPUT_PICOS;
  expect(receipt).toMatchObject({ costPicos: cost, balancePicos: start - cost });
  const account = await world.account();
  expect([account.availablePicos, balanceOf(account), account.holds.size]).toEqual([start - cost, start - cost, 0]);
  expect(model.id).toBe('alpha-1');
  expect(world.records()).toMatchObject([
    {
      requestId: REQUEST,
      outcome: 'settled',
      amountPicos: cost,
      model: 'alpha-1',
      endUser: 'someone',
      prices: { input: INPUT_PICOS, output: OUTPUT_PICOS },
      usage: { input: 30, cacheRead: 7, cacheWrite: 2, cacheWrite1h: 1, output: 6, reasoning: 4 },
    },
  ]);
  expect(world.records()[0]).not.toHaveProperty('overage');
  expect(world.money).toEqual([{ held: heldFor(100) }, { charged: cost, released: heldFor(100) - cost }]);
});

test('CHAT-15 half of a character in the end user is replaced in the charge record', async () => {
  const world = await createWorld();
  await world.ask({}, { endUser: 'half \u{d83d}' });
  expect(world.records()).toMatchObject([{ outcome: 'settled', endUser: 'half \u{fffd}' }]);
});

test('BILL-3 a price change during the upstream call does not change the charge', async () => {
  const rows = [
    { unit: '1M_tokens', rates: { input: '8', output: '40' }, until: '2026-11-01' },
    { unit: '1M_tokens', rates: { input: '80', output: '400' }, from: '2026-11-02' },
  ];
  const world = await createWorld({
    models: [text({ prices: rows, reasoning: null })],
    play: async () => {
      await world.clock.advance(500_000);
      return answered();
    },
  });
  await world.clock.advance(86_400_000 - 100_000);
  const { receipt } = answeredIn(await world.ask());
  expect(receipt.costPicos).toBe(40n * INPUT_PICOS + 10n * OUTPUT_PICOS);
});

test('BILL-5 the hold multiplies the cap by the number of choices', async () => {
  const world = await createWorld();
  await world.ask({ outputTokensMax: 30, choices: 3 });
  expect(world.sent[0]?.outputTokensMax).toBe(30);
  expect(world.records()[0]?.amountPicos).toBe(40n * INPUT_PICOS + 10n * OUTPUT_PICOS);
  const held = await createWorld({ usd: '0', play: async () => answered() });
  await held.memory.credit({
    accountId: 'account-1',
    ref: 'exact',
    amountPicos: heldFor(90),
    reason: 'test',
    at: 0,
  });
  await expect(held.ask({ outputTokensMax: 30, choices: 3 })).resolves.toBeDefined();
});

test.for([
  [{ bytes: 0, images: [] }, 64n],
  [{ bytes: 100, images: [] }, 164n],
  [{ bytes: 5_000, images: [] }, 1_000n],
  [{ bytes: 0, images: ['auto'] }, 1_000n],
] as const)('BILL-5 a prompt of %j is held as %i tokens, at most the context', async ([prompt, tokens]) => {
  const world = await createWorld({
    play: async () => {
      const [hold] = (await world.account()).holds.values();
      expect(hold?.amountPicos).toBe(tokens * INPUT_PICOS + OUTPUT_PICOS);
      return answered(used(1, 1));
    },
  });
  await world.ask({ prompt, outputTokensMax: 1 });
  expect(world.sent).toHaveLength(1);
});

const tokensAtMost = (prompt: PromptSize, usesTools = false) => {
  const model = textModel({
    limits: { contextTokens: 1_000_000, outputTokensMax: 1_000, outputTokensDefault: 1_000 },
    imageTokensMax: { low: 10, high: 20, auto: 300, original: 400 },
  });
  return promptTokensAtMost(model, { prompt, usesTools });
};

test('BILL-5 the hold counts the most tokens that the detail level of an image allows', () => {
  expect(tokensAtMost({ bytes: 0, images: ['low', 'low', 'auto'] })).toBe(64 + 320);
});

test('BILL-5 the hold for a recording covers the whole context, however few bytes it has', () => {
  expect(tokensAtMost({ bytes: 10, images: [], recordings: 0 })).toBe(74);
  for (const recordings of [1, 2]) expect(tokensAtMost({ bytes: 10, images: [], recordings })).toBe(1_000_000);
});

test('BILL-5 the hold for a PDF document covers the whole context, however few bytes it has', () => {
  expect(tokensAtMost({ bytes: 10, images: [], documents: 0 })).toBe(74);
  for (const documents of [1, 2]) expect(tokensAtMost({ bytes: 10, images: [], documents })).toBe(1_000_000);
});

test('BILL-5 a text is held at its estimated tokens, at most one per byte', () => {
  expect(tokensAtMost({ bytes: 500, textTokens: 100, images: [] })).toBe(164);
  expect(tokensAtMost({ bytes: 50, textTokens: 100, images: [] })).toBe(114);
});

test('BILL-5 tools add 1,000 tokens to the hold of a prompt, at most the context', () => {
  expect(tokensAtMost({ bytes: 10, images: ['low'] }, true)).toBe(1_084);
  expect(tokensAtMost({ bytes: 999_000, images: [] }, true)).toBe(1_000_000);
});

test('BILL-10 a response without usage costs nothing and is reported', async () => {
  const world = await createWorld({ play: async () => ({ ...answered(), usage: undefined }) });
  const { receipt } = answeredIn(await world.ask());
  expect([receipt.costPicos, receipt.balancePicos, world.notices]).toEqual([0n, start, ['usage_missing']]);
  expect(world.records()).toMatchObject([{ outcome: 'settled', amountPicos: 0n, usage: {} }]);
});

test('BILL-10 missing usage of a provider that never reports usage raises no alarm', async () => {
  const world = await createWorld({
    models: [text({ reportsUsage: false })],
    play: async () => ({ ...answered(), usage: undefined }),
  });
  await world.ask();
  expect(world.notices).toEqual([]);
});

const refusals = [
  new GatewayError('upstream_capacity', 'slow', { retryAfterSeconds: 3 }),
  new GatewayError('invalid_request_error', 'no', { param: 'temperature' }),
  new GatewayError('content_filter', 'blocked'),
  new TypeError('a bug'),
];

test.for(refusals)('BILL-2 a failed upstream call releases the hold: %s', async (error) => {
  const world = await createWorld({ play: () => Promise.reject(error) });
  await expect(world.ask()).rejects.toBe(error);
  const { availablePicos, holds, spentPicos } = await world.account();
  expect([availablePicos, holds.size, spentPicos]).toEqual([start, 0, 0n]);
  expect(world.records()).toMatchObject([
    {
      outcome: 'released',
      amountPicos: 0n,
      reason: error instanceof GatewayError ? error.code : 'internal_error',
    },
  ]);
  expect([world.log, world.clock.waiting]).toEqual([['hold', 'send', 'putRecord', 'apply'], 0]);
});

test('BILL-1, BILL-2 a response that cannot be rendered is not charged, and its hold is released', async () => {
  const bug = new TypeError('a bug');
  const seen: unknown[] = [];
  const world = await createWorld({
    render: (answer, model) => {
      seen.push([answer, model.id, [...world.log]]);
      throw bug;
    },
  });
  await expect(world.ask()).rejects.toBe(bug);
  expect(seen).toEqual([[answered(), 'alpha-1', ['hold', 'send']]]);
  const { availablePicos, holds, spentPicos } = await world.account();
  expect([availablePicos, holds.size, spentPicos]).toEqual([start, 0, 0n]);
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n, reason: 'internal_error' }]);
});

test('BILL-3 a response is rendered once, and the rendered body is returned', async () => {
  let made = 0;
  const world = await createWorld({
    render: (_answer, { id }) => {
      made += 1;
      return `${id} said it`;
    },
  });
  expect([answeredIn(await world.ask()).body, made]).toEqual(['alpha-1 said it', 1]);
});

test('BILL-1 a request that fails validation holds nothing', async () => {
  const error = new GatewayError('invalid_request_error', 'seed', { param: 'seed' });
  const world = await createWorld();
  const validateFor = () => {
    throw error;
  };
  await expect(world.ask({}, { validateFor })).rejects.toBe(error);
  expect(world.log).toEqual([]);
});

test('CHAT-13 a prompt that cannot fit is rejected before the hold', async () => {
  const world = await createWorld();
  const bytes = 1_001 * 128;
  await expect(world.ask({ prompt: { ...PROMPT, bytes } })).rejects.toMatchObject({
    code: 'context_length_exceeded',
    status: 400,
    param: 'messages',
  });
  expect(world.log).toEqual([]);
  await world.ask({ prompt: { ...PROMPT, bytes: bytes - 1 } });
  expect(world.sent).toHaveLength(1);
});
