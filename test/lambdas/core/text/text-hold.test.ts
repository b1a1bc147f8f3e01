import { expect, test } from 'vitest';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { price, text } from '../catalog/sample-data.ts';
import { loggingSink, streamed } from './sink.ts';
import {
  ACCOUNT,
  answered,
  createWorld,
  ended,
  heldFor,
  INPUT_PICOS,
  OUTPUT_PICOS,
  raw,
  streamOf,
  used,
  type WorldOptions,
} from './text-world.ts';

const limits = { contextTokens: 4_000, outputTokensMax: 3_000, outputTokensDefault: 1_000 };

/** World of an account with a factor, which records the factors that are raised. */
const withFactor = async (value: number, options: WorldOptions = {}) => {
  const raised: number[] = [];
  const estimate = { value, raise: async (factor: number) => void raised.push(factor) };
  const world = await createWorld({ models: [text({ limits })], ...options, estimate });
  const heldFirst = async (): Promise<bigint> => {
    const generated = await world.generate({ dryRun: true }, { outputTokensMax: 20 });
    if (generated.kind !== 'dry_run') throw new Error('expected a dry run');
    return generated.holdPicos;
  };
  return { ...world, raised, heldFirst };
};

/** Hold for a prompt of this many tokens and an output cap of 20. */
const heldWith = (promptTokens: number): bigint => BigInt(promptTokens) * INPUT_PICOS + 20n * OUTPUT_PICOS;

test.each([
  [1, 100],
  [1.25, 125],
  [3.4, 340],
  [4, 400],
])('BILL-20 a factor of %d counts a prompt of 100 tokens as %d', async (factor, tokens) => {
  const world = await withFactor(factor, {
    play: async () => {
      const [hold] = (await world.account()).holds.values();
      expect(hold?.amountPicos).toBe(heldWith(tokens));
      return answered();
    },
  });
  expect(await world.heldFirst()).toBe(heldWith(tokens));
  await world.ask({ outputTokensMax: 20 });
  expect(world.records()).toMatchObject([{ outcome: 'settled' }]);
});

test('BILL-20 a prompt counts at most as the context', async () => {
  const world = await withFactor(4, {
    models: [text({ limits: { contextTokens: 150, outputTokensMax: 100, outputTokensDefault: 100 } })],
  });
  expect(await world.heldFirst()).toBe(heldWith(150));
});

test('BILL-4, BILL-20 a factor never causes request_budget_exceeded', async () => {
  const costing = (input: string) =>
    text({
      limits: { contextTokens: 1_000, outputTokensMax: 1, outputTokensDefault: 1 },
      prices: [price({ rates: { input, output: '0' } })],
    });
  // The prompt has 65 tokens.
  const request = { prompt: { bytes: 1, images: [] }, outputTokensMax: 1 };
  const dry = async (factor: number, input = '1000000') =>
    (await withFactor(factor, { models: [costing(input)] })).generate({ dryRun: true }, request);
  expect(await dry(1.5)).toMatchObject({ holdPicos: 98_000_000_000_000n, estimateFactor: 1.5 });
  expect(await dry(1.53)).toMatchObject({ holdPicos: 100_000_000_000_000n, estimateFactor: 1.53 });
  expect(await dry(1.54)).toMatchObject({ holdPicos: 65_000_000_000_000n, estimateFactor: 1 });
  await expect(dry(2, '2000000')).rejects.toMatchObject({ code: 'request_budget_exceeded' });
});

test('BILL-6, BILL-20 a smaller hold also counts the prompt with the factor', async () => {
  const picos = 250n * INPUT_PICOS + 600n * OUTPUT_PICOS;
  const world = await withFactor(2.5, {
    usd: '0',
    play: async () => {
      const [hold] = (await world.account()).holds.values();
      expect(hold?.amountPicos).toBe(picos);
      return answered();
    },
  });
  await world.memory.credit({ accountId: ACCOUNT, ref: 'some', amountPicos: picos, reason: 'test', at: 0 });
  expect((await world.ask()).chosenCap).toBe(600);
  expect(world.log).toEqual(['hold', 'hold', 'send', 'putRecord', 'apply']);
});

test('BILL-20 the 402 names a factor above 1', async () => {
  for (const factor of [1, 3.4]) {
    const world = await withFactor(factor, { usd: '0.00000001' });
    const error = await world.ask().catch((thrown: unknown) => String(thrown));
    expect(error).toContain('pays for 0 output tokens.');
    expect(error).toMatch(/Top up, or send a shorter prompt\.$/);
    expect(String(error).includes('the prompt counts 3.4 times')).toBe(factor === 3.4);
  }
});

test('BILL-6 the 402 sets the field of the output limit to a value that the balance pays for', async () => {
  for (const [tokens, fix] of [
    [16, 'set max_tokens to at most 16.'],
    [15, 'send a shorter prompt.'],
  ] as const) {
    const world = await withFactor(1, { usd: '0' });
    const amountPicos = 100n * INPUT_PICOS + BigInt(tokens) * OUTPUT_PICOS;
    await world.memory.credit({ accountId: ACCOUNT, ref: 'some', amountPicos, reason: 'test', at: 0 });
    await expect(world.ask({ outputTokensMax: 900 })).rejects.toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringMatching(new RegExp(`Top up, or ${fix}$`)),
    });
    if (tokens === 16) expect(await world.ask({ outputTokensMax: tokens })).toBeDefined();
  }
});

test('BILL-6 the 402 never advises more than the output limit of the model', async () => {
  const world = await withFactor(1, { usd: '0' });
  const amountPicos = 100n * INPUT_PICOS + 3_500n * OUTPUT_PICOS;
  await world.memory.credit({ accountId: ACCOUNT, ref: 'some', amountPicos, reason: 'test', at: 0 });
  await expect(world.ask({ outputTokensMax: 3_600 })).rejects.toMatchObject({
    code: 'insufficient_balance',
    message: expect.stringMatching(/pays for 3000 output tokens\. Top up, or set max_tokens to at most 3000\.$/),
  });
});

test('BILL-20 a charge above the hold raises the factor to the counted part of the estimate', async () => {
  const world = await withFactor(1, { play: async () => answered(used(335, 20)) });
  await world.ask({ outputTokensMax: 20 });
  expect([world.notices, world.raised]).toEqual([['overage'], [3.4]]);
});

test('BILL-20 a charge within the hold raises nothing, whatever the prompt counts', async () => {
  const world = await withFactor(1, { play: async () => answered(used(190, 2)) });
  await world.ask({ outputTokensMax: 20 });
  const covered = await withFactor(4, { play: async () => answered(used(335, 20)) });
  await covered.ask({ outputTokensMax: 20 });
  expect([world.raised, covered.raised]).toEqual([[], []]);
});

test('BILL-20 an implausible count raises the factor only by its limit', async () => {
  const world = await withFactor(1, { play: async () => answered(used(1_000_000, 20)) });
  // 36 bytes and 2,000 tokens around the prompt are plausible.
  await world.ask({ outputTokensMax: 20, prompt: { bytes: 1_000, textTokens: 936, images: [] } });
  expect(world.raised).toEqual([3]);
});

test('BILL-20 a stream raises the factor after its end was sent, and before it is closed', async () => {
  const steps: string[] = [];
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const raise = async (factor: number) => {
    steps.push(`raise ${factor}`);
    await stored;
  };
  const world = await createWorld({
    models: [text({ limits })],
    estimate: { value: 1, raise },
    play: async () => streamOf(raw('word'), ended(used(335, 20))),
  });
  const pumping = streamed(await world.ask({ stream: true, outputTokensMax: 20 })).pump(loggingSink(steps).sink);
  await world.clock.flush();
  expect([steps, world.log.at(-1)]).toEqual([['raw word', 'finish', 'raise 3.4'], 'apply']);
  store();
  await pumping;
  expect(steps.at(-1)).toBe('close');
});

test('BILL-20 a dry run shows the factor of its hold', async () => {
  for (const factor of [1, 2.2]) {
    const world = await withFactor(factor);
    expect(await world.generate({ dryRun: true })).toMatchObject({ estimateFactor: factor });
  }
  expect(heldFor(20)).toBe(heldWith(100));
});

test.for([
  [5, 16, 16],
  [16, 16, undefined],
  [20, 20, undefined],
] as const)('BILL-6 a limit of %d is held and sent as %d with a minimum of 16', async ([asked, cap, chosenCap]) => {
  const world = await createWorld({ outputTokensMin: 16 });
  expect(await world.generate({ dryRun: true }, { outputTokensMax: asked })).toMatchObject({
    holdPicos: heldFor(cap),
    outputTokensMax: cap,
  });
  expect((await world.ask({ outputTokensMax: asked })).chosenCap).toBe(chosenCap);
  expect(world.sent[0]?.outputTokensMax).toBe(cap);
});

test('BILL-6 a limit that the gateway lowers stays at the minimum of the provider', async () => {
  const options = { models: [text({ limits })], outputTokensMin: 500 };
  const poor = await createWorld({ ...options, usd: formatUsd(heldFor(499)) });
  await expect(poor.ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
  const funded = await createWorld({ ...options, usd: formatUsd(heldFor(500)) });
  expect((await funded.ask()).chosenCap).toBe(500);
});
