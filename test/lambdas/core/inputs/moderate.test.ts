import { expect, test } from 'vitest';
import { moderate } from '../../../../lambdas/core/inputs/moderate.ts';
import type { InputRequest } from '../../../../lambdas/core/inputs/paid-input.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { price } from '../catalog/sample-data.ts';
import { answered, answerOf, createInputWorld, embedding, moderation, used } from '../embeddings/input-world.ts';

type Options = Partial<Parameters<typeof createInputWorld>[0]>;

const start = parseUsd('1000');
const uncounted = async () => ({ ...answered(), usage: undefined });

const asked = { bytes: 50, tokens: 0, inputs: 1, answerBytes: 100, ignored: [] };

const worldOf = async (options: Options = {}) => {
  const world = await createInputWorld({ models: [moderation()], play: uncounted, ...options });
  const ask = (request: Partial<InputRequest> = {}, modelId = 'watch-1') =>
    answerOf(
      moderate(world.deps, world.caller, {
        modelId,
        endUser: undefined,
        validateFor: () => ({ body: { input: 'Hello' }, ...asked, ...request }),
      }),
    );
  return { ...world, ask };
};

test('MOD-1 a price of 0 is held, settled and recorded as 0 without an alarm', async () => {
  const world = await worldOf();
  const { receipt } = await world.ask();
  expect([receipt.costPicos, receipt.balancePicos]).toEqual([0n, start]);
  expect([world.log, world.notices]).toEqual([['hold', 'send', 'putRecord', 'apply'], []]);
  expect(world.records()).toMatchObject([{ outcome: 'settled', amountPicos: 0n, prices: { input: 0n } }]);
});

test('AUTH-4 a hold of 0 still rejects a blocked account and an empty account', async () => {
  const blocked = await worldOf();
  blocked.memory.setStatus(blocked.caller.accountId, 'blocked');
  await expect(blocked.ask()).rejects.toMatchObject({ code: 'account_blocked' });
  const empty = await worldOf({ usd: '0' });
  await expect(empty.ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect([blocked.sent, empty.sent]).toEqual([[], []]);
});

test("MOD-1 and BILL-3 priced moderation is charged by the provider's count", async () => {
  const models = [moderation({ prices: [price({ rates: { input: '1' } })] })];
  const counted = await worldOf({ models, play: async () => answered(used(40)) });
  expect((await counted.ask()).receipt.costPicos).toBe(40_000_000n);
  const more = await worldOf({ models, play: async () => answered(used(51)) });
  expect((await more.ask()).receipt.costPicos).toBe(50_000_000n);
  expect(more.notices).toEqual(['usage_implausible']);
  for (const play of [uncounted, async () => answered(used(0))]) {
    const silent = await worldOf({ models, play });
    expect((await silent.ask()).receipt.costPicos).toBe(0n);
    expect([silent.notices, silent.records()[0]?.reason]).toEqual([['usage_missing'], 'usage_missing']);
  }
});

test('GEN-11 an embedding model is rejected for moderation', async () => {
  const world = await worldOf({ models: [moderation(), embedding()] });
  await expect(world.ask({}, 'vector-1')).rejects.toMatchObject({ code: 'invalid_request_error', param: 'model' });
});
