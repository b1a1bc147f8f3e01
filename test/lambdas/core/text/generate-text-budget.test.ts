import { expect, test } from 'vitest';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { limits, price, text } from '../catalog/sample-data.ts';
import { ACCOUNT, answered, createWorld, heldFor, INPUT_PICOS, OUTPUT_PICOS, used, type World } from './text-world.ts';

/** Returns a model with a context of one token, so that the prompt is one token. An output token costs 100 USD. */
const dear = (input: string) =>
  text({
    limits: { contextTokens: 1, outputTokensMax: 1, outputTokensDefault: 1 },
    prices: [price({ rates: { input, output: '100000000' } })],
  });

test('BILL-4 a hold of exactly 100 USD is accepted', async () => {
  const world = await createWorld({ models: [dear('0')], play: async () => answered(used(1, 1)) });
  await world.ask({ outputTokensMax: 1 });
  expect(world.records()).toMatchObject([{ amountPicos: 100_000_000_000_000n }]);
});

test('BILL-4 a hold of one pico-USD above 100 USD is rejected, and nothing is held', async () => {
  const world = await createWorld({ models: [dear('0.000001')] });
  await expect(world.ask({ outputTokensMax: 1 })).rejects.toMatchObject({
    code: 'request_budget_exceeded',
    status: 400,
    param: 'max_tokens',
    message: expect.stringMatching(/100\.000000000001 USD.*reduce max_tokens or split/s),
  });
  expect(world.log).toEqual([]);
});

test('BILL-4 the limit applies to the sum of all choices', async () => {
  const world = await createWorld({ models: [dear('0')] });
  await expect(world.ask({ outputTokensMax: 1, choices: 2 })).rejects.toMatchObject({
    code: 'request_budget_exceeded',
  });
  expect(world.log).toEqual([]);
});

const withPicos = async (picos: bigint, changes: Parameters<typeof createWorld>[0] = {}): Promise<World> => {
  const model = text({ limits: { contextTokens: 4_000, outputTokensMax: 3_000, outputTokensDefault: 1_000 } });
  const world = await createWorld({ models: [model], usd: '0', ...changes });
  await world.memory.credit({ accountId: ACCOUNT, ref: 'some', amountPicos: picos, reason: 'test', at: 0 });
  return world;
};

test('BILL-6 without a client cap the hold uses the default cap, which is sent and reported', async () => {
  const world = await withPicos(heldFor(1_000));
  const { chosenCap } = await world.ask();
  expect([chosenCap, world.sent[0]?.outputTokensMax]).toEqual([1_000, 1_000]);
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
});

test.for([
  [heldFor(1_000) - 1n, 999],
  [heldFor(400) + OUTPUT_PICOS - 1n, 400],
  [heldFor(256), 256],
] as const)('BILL-6 with %i pico-USD a second hold uses a smaller cap: %i', async ([picos, cap]) => {
  const world = await withPicos(picos, {
    play: async () => {
      const [hold] = (await world.account()).holds.values();
      expect(hold?.amountPicos).toBe(heldFor(cap));
      return answered();
    },
  });
  const { chosenCap } = await world.ask();
  expect([chosenCap, world.sent[0]?.outputTokensMax]).toEqual([cap, cap]);
  expect(world.log).toEqual(['hold', 'hold', 'send', 'putRecord', 'apply']);
});

test('BILL-6 a smaller cap is divided among all choices', async () => {
  const world = await withPicos(heldFor(900));
  expect((await world.ask({ choices: 3 })).chosenCap).toBe(300);
});

test.for([heldFor(256) - 1n, 100n * INPUT_PICOS - 1n, 1n])(
  'BILL-6 the 402 for %i pico-USD names the required and available amounts and usable tokens',
  async (picos) => {
    const world = await withPicos(picos);
    const error = await world.ask().catch((thrown: unknown) => thrown);
    const affordable = picos < 100n * INPUT_PICOS ? 0n : (picos - 100n * INPUT_PICOS) / OUTPUT_PICOS;
    expect(error).toMatchObject({ code: 'insufficient_balance', status: 402 });
    for (const figure of [formatUsd(heldFor(1_000)), formatUsd(picos), String(affordable)]) {
      expect(String(error)).toMatch(new RegExp(`(^|[^\\d.])${figure.replace('.', '\\.')}([^\\d]|$)`));
    }
    expect(world.log).toEqual(['hold']);
    expect((await world.account()).availablePicos).toBe(picos);
  },
);

test("BILL-6 a client's own cap is never changed", async () => {
  const world = await withPicos(heldFor(500));
  await expect(world.ask({ outputTokensMax: 501 })).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect(world.log).toEqual(['hold']);
  const { chosenCap } = await world.ask({ outputTokensMax: 500 });
  expect([chosenCap, world.sent[0]?.outputTokensMax]).toEqual([undefined, 500]);
});

test('BILL-6 if the balance drops between the two holds, the request gets 402 and keeps no hold', async () => {
  const world = await withPicos(heldFor(300), {
    fault: (method, turn) => {
      if (method === 'hold' && turn === 1) {
        void world.memory.hold({
          accountId: ACCOUNT,
          holdId: 'other.0',
          amountPicos: heldFor(100),
          expiresAtMs: 1,
          sweepAtMs: 1,
          previousHoldId: undefined,
        });
      }
      return undefined;
    },
  });
  await expect(world.ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect([world.log, world.sent]).toEqual([['hold', 'hold'], []]);
  expect([...(await world.account()).holds.keys()]).toEqual(['other.0']);
});

test('BILL-10 a price of 0 still places a hold', async () => {
  const free = text({ prices: [price({ rates: { input: '0', output: '0' } })], limits });
  const world = await createWorld({ models: [free] });
  await world.ask();
  expect(world.records()).toMatchObject([{ outcome: 'settled', amountPicos: 0n }]);
});

test('BILL-7 usage above the hold is charged as reported and flagged', async () => {
  const world = await withPicos(heldFor(20), { play: async () => answered(used(2_000, 20)) });
  await world.ask({ outputTokensMax: 20 });
  const cost = 2_000n * INPUT_PICOS + 20n * OUTPUT_PICOS;
  expect(world.records()).toMatchObject([{ amountPicos: cost, overage: true }]);
  expect(world.records()[0]).not.toHaveProperty('implausible');
  expect([(await world.account()).availablePicos, world.notices]).toEqual([heldFor(20) - cost, ['overage']]);
});

test.for([
  [used(50, 21), 50n, 20n],
  [used(2_037, 20), 2_036n, 20n],
  [used(9_007_199_254_740_991, 9_007_199_254_740_991), 2_036n, 20n],
  [{ ...used(50, 15), reasoning: 6 }, 50n, 20n],
] as const)('BILL-7 implausible counts are charged at their bound: %j', async ([usage, input, output]) => {
  const world = await withPicos(heldFor(2_000), { play: async () => answered(usage) });
  await world.ask({ outputTokensMax: 20 });
  expect(world.records()).toMatchObject([
    { amountPicos: input * INPUT_PICOS + output * OUTPUT_PICOS, implausible: true, usage },
  ]);
  expect(world.notices).toContain('usage_implausible');
});

test('BILL-7 a prompt with parts of unknown size is plausible up to the context', async () => {
  const world = await withPicos(heldFor(2_000), { play: async () => answered(used(4_001, 20)) });
  await world.ask({ outputTokensMax: 20, prompt: { bytes: 36, images: [], hasOpaqueParts: true } });
  expect(world.records()).toMatchObject([
    { amountPicos: 4_000n * INPUT_PICOS + 20n * OUTPUT_PICOS, implausible: true },
  ]);
});

test('BILL-7 the bound of the output is the cap times the number of choices', async () => {
  const world = await withPicos(heldFor(2_000), { play: async () => answered(used(50, 60)) });
  await world.ask({ outputTokensMax: 20, choices: 3 });
  expect(world.records()).toMatchObject([{ amountPicos: 50n * INPUT_PICOS + 60n * OUTPUT_PICOS }]);
  expect(world.notices).toEqual([]);
});
