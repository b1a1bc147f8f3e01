import { expect, test } from 'vitest';
import { GatewayError, invalidRequest } from '../../../../lambdas/core/errors/gateway-error.ts';
import { type EmbeddingParams, embed } from '../../../../lambdas/core/inputs/embed.ts';
import type { InputRequest } from '../../../../lambdas/core/inputs/paid-input.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { price } from '../catalog/sample-data.ts';
import { answered, answerOf, createInputWorld, embedding, moderation, RATE, used } from '../embeddings/input-world.ts';

type Options = Partial<Parameters<typeof createInputWorld>[0]>;

const start = parseUsd('1000');
const text = { body: { input: 'Hello' }, bytes: 50, tokens: 0, inputs: 1, answerBytes: 100, ignored: [] };

const worldOf = async (options: Options = {}) => {
  const world = await createInputWorld({ models: [embedding()], ...options });
  const ask = (request: Partial<InputRequest> = {}, order: Partial<EmbeddingParams> = {}) =>
    answerOf(
      embed(world.deps, world.caller, {
        modelId: 'vector-1',
        endUser: undefined,
        validateFor: () => ({ ...text, ...request }),
        ...order,
      }),
    );
  return { ...world, ask };
};

test('EMB-1 and BILL-1 an embedding is held, sent once and charged by its input', async () => {
  const world = await worldOf();
  const { answer, receipt } = await world.ask({}, { endUser: 'someone' });
  const cost = 40n * RATE;
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect([Buffer.concat(answer.bytes).toString(), receipt.costPicos, receipt.balancePicos]).toEqual([
    '{"id":"answer"}',
    cost,
    start - cost,
  ]);
  expect(world.sent).toMatchObject([{ modelId: 'vector-1', body: text.body, upstream: { model: 'vendor-name' } }]);
  expect(world.records()).toMatchObject([
    {
      outcome: 'settled',
      amountPicos: cost,
      model: 'vector-1',
      endUser: 'someone',
      prices: { input: RATE },
      usage: { input: 40 },
    },
  ]);
  expect([world.notices, world.clock.waiting, (await world.account()).holds.size]).toEqual([[], 0, 0]);
});

test.for([
  [{ bytes: 50, tokens: 0, inputs: 1 }, 50n],
  [{ bytes: 0, tokens: 7, inputs: 1 }, 7n],
  [{ bytes: 90, tokens: 60, inputs: 3 }, 150n],
  [{ bytes: 5_000, tokens: 0, inputs: 1 }, 100n],
  [{ bytes: 5_000, tokens: 0, inputs: 3 }, 300n],
] as const)('BILL-5 an input of %j is held as %i tokens', async ([request, tokens]) => {
  const world = await worldOf({
    play: async () => {
      const [hold] = (await world.account()).holds.values();
      expect(hold?.amountPicos).toBe(tokens * RATE);
      return answered();
    },
  });
  await world.ask(request);
  expect(world.sent).toHaveLength(1);
});

test('BILL-7 a count above the hold is charged in full, up to the context limit', async () => {
  const above = await worldOf({ play: async () => answered(used(60)) });
  expect((await above.ask()).receipt.costPicos).toBe(60n * RATE);
  expect([above.notices, above.records()[0]?.overage]).toEqual([['overage'], true]);
  const untrue = await worldOf({ play: async () => answered(used(201)) });
  expect((await untrue.ask({ inputs: 2, bytes: 500 })).receipt.costPicos).toBe(200n * RATE);
  expect([untrue.notices, untrue.records()[0]?.implausible]).toEqual([['usage_implausible'], true]);
});

test('BILL-10 a response without usage costs nothing, and is reported if usage was expected', async () => {
  const free = price({ rates: { input: '0' } });
  for (const usage of [undefined, used(0)]) {
    for (const [changes, notices] of [
      [{}, ['usage_missing']],
      [{ reportsUsage: false }, []],
      [{ prices: [free] }, []],
    ] as const) {
      const world = await worldOf({ models: [embedding(changes)], play: async () => ({ ...answered(), usage }) });
      const { receipt } = await world.ask();
      expect([receipt.costPicos, receipt.balancePicos, world.notices]).toEqual([0n, start, notices]);
      const [record] = world.records();
      expect(record).toMatchObject({ outcome: 'settled', amountPicos: 0n, usage: usage ? { input: 0 } : {} });
      expect(record?.reason).toBe(notices[0]);
    }
  }
});

test('BILL-4 a hold above 100 USD is rejected, and a hold of exactly 100 USD is accepted', async () => {
  const models = [embedding({ limits: { contextTokens: 1_000_000_000 }, prices: [price({ rates: { input: '1' } })] })];
  const world = await worldOf({ models });
  await expect(world.ask({ bytes: 100_000_001 })).rejects.toMatchObject({
    code: 'request_budget_exceeded',
    param: 'input',
  });
  expect(world.log).toEqual([]);
  const exact = await worldOf({ models });
  await expect(exact.ask({ bytes: 100_000_000 })).resolves.toBeDefined();
});

test('GEN-8 an invalid request is rejected before an unavailable provider, and nothing is held', async () => {
  const validateFor = () => {
    throw invalidRequest('input', 'input: no.');
  };
  const world = await worldOf({ reachable: () => false });
  await expect(world.ask({}, { validateFor })).rejects.toMatchObject({ code: 'invalid_request_error', param: 'input' });
  await expect(world.ask()).rejects.toMatchObject({ code: 'model_unavailable', retryAfterSeconds: undefined });
  const unspoken = await worldOf({ wires: ['openai_moderations'] });
  await expect(unspoken.ask()).rejects.toMatchObject({ code: 'model_unavailable' });
  expect([world.log, unspoken.log]).toEqual([[], []]);
});

test('CAT-6 and GEN-11 an unknown model and a model of another kind are rejected', async () => {
  const world = await worldOf({ models: [embedding(), moderation()] });
  await expect(world.ask({}, { modelId: 'vector-9' })).rejects.toMatchObject({ code: 'model_not_found' });
  await expect(world.ask({}, { modelId: 'watch-1' })).rejects.toMatchObject({
    code: 'invalid_request_error',
    param: 'model',
    message: expect.stringContaining('/v1/moderations'),
  });
});

test.for([new GatewayError('upstream_capacity', 'slow', { retryAfterSeconds: 3 }), new TypeError('a bug')])(
  'BILL-2 a failed request releases its hold: %s',
  async (error) => {
    const world = await worldOf({ play: () => Promise.reject(error) });
    await expect(world.ask()).rejects.toBe(error);
    const { availablePicos, holds } = await world.account();
    expect([availablePicos, holds.size, world.clock.waiting]).toEqual([start, 0, 0]);
    expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n }]);
  },
);

test('LIM-6 a response that does not arrive times out after 600 s', async () => {
  const world = await worldOf({
    play: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const asked = world.ask().catch((error: unknown) => error);
  await world.clock.advance(599_999);
  expect((await world.account()).holds.size).toBe(1);
  await world.clock.advance(1);
  expect(await asked).toMatchObject({ code: 'upstream_timeout' });
  expect((await world.account()).holds.size).toBe(0);
});

test('GEN-14 an embedding reserves memory before its hold, and keeps its real size until it is sent', async () => {
  const world = await worldOf();
  const { promise: room, resolve } = Promise.withResolvers<void>();
  const openMemory = (until: string) => ({
    reserve: (bytes: number) => {
      world.log.push(`reserve ${bytes} ${until}`);
      return room;
    },
    settle: (bytes: number) => void world.log.push(`settle ${bytes}`),
  });
  const caller = { ...world.caller, openMemory };
  const order = { modelId: 'vector-1', endUser: undefined, validateFor: () => text };
  const asked = answerOf(embed(world.deps, caller, order));
  await world.clock.flush();
  expect(world.log).toEqual(['reserve 100 sent']);
  resolve();
  await asked;
  const size = '{"id":"answer"}'.length;
  expect(world.log.slice(1)).toEqual(['settle 100', 'hold', 'send', `settle ${size}`, 'putRecord', 'apply']);
});

test('GEN-14 an embedding without memory is 503, and nothing is held', async () => {
  const world = await worldOf();
  const full = new GatewayError('service_unavailable', 'full', { retryAfterSeconds: 1 });
  const openMemory = () => ({ reserve: () => Promise.reject(full), settle: () => undefined });
  const order = { modelId: 'vector-1', endUser: undefined, validateFor: () => text };
  await expect(embed(world.deps, { ...world.caller, openMemory }, order)).rejects.toBe(full);
  expect([world.log, world.clock.waiting]).toEqual([[], 0]);
});
