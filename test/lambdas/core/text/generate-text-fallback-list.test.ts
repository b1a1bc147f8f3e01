import { expect, test } from 'vitest';
import type { CallRejection, Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { answerOnce } from '../../../../lambdas/core/idempotency/claim.ts';
import { idempotencyOf } from '../../../support/memory/memory-idempotency.ts';
import { limits, price, text } from '../catalog/sample-data.ts';
import { ACCOUNT, answered, createWorld, heldFor, REQUEST, requestOf, type WorldOptions } from './text-world.ts';

const header = 'x-service-fallback-models';
const openFor = (retryAfterSeconds: number): CallRejection => ({ kind: 'open', retryAfterSeconds });
const quarantined: CallRejection = { kind: 'quarantined' };
const halfOf = [price({ rates: { input: '4', output: '20' } })];
const quarterOf = [price({ rates: { input: '2', output: '10' } })];

/** The requested model, three valid fallback models, and one that is too expensive. */
const models = [
  text(),
  text({ id: 'beta-1', aliases: ['beta'], prices: halfOf }),
  text({ id: 'gamma-1', aliases: [], prices: quarterOf }),
  text({ id: 'delta-1', aliases: [] }),
  text({ id: 'other-1', aliases: [], prices: [price({ rates: { input: '9', output: '40' } })] }),
];

interface Doors {
  /** Rejections known before the hold, by model id. */
  readonly known?: Readonly<Record<string, CallRejection>>;
  /** Rejections found just before dispatch, by model id. */
  readonly found?: Readonly<Record<string, CallRejection>>;
}

const worldOf = async ({ known = {}, found = {} }: Doors, options: WorldOptions = {}) => {
  const held: string[] = [];
  const circuits: Circuits = {
    peek: ({ modelId }) => known[modelId],
    acquire: async ({ modelId }) => {
      held.push(modelId);
      const rejection = found[modelId] ?? known[modelId];
      return rejection ?? { kind: 'permit', report: async () => undefined, started: async () => undefined };
    },
    usageMissing: async () => undefined,
  };
  const world = await createWorld({ models, circuits, ...options });
  const ask = (modelIds: readonly string[], dryRun = false) =>
    world.generate({ dryRun }, { outputTokensMax: 100 }, { fallbacks: { header, modelIds } });
  return { ...world, ask, held };
};

const chain = ['beta-1', 'gamma-1', 'delta-1'];

test('FALL-6 the first listed model whose circuit is not open is called', async () => {
  const world = await worldOf({ known: { 'alpha-1': openFor(9), 'beta-1': openFor(9) } });
  expect(await world.ask(chain)).toMatchObject({ model: { id: 'gamma-1' }, fallbackFrom: 'alpha-1' });
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect(world.records()).toMatchObject([
    { model: 'gamma-1', outcome: 'settled', amountPicos: 40n * 2_000_000n + 10n * 10_000_000n },
  ]);
});

test('FALL-6 the order of the client decides, not the order of the catalog', async () => {
  const world = await worldOf({ known: { 'alpha-1': openFor(9) } });
  expect(await world.ask(['delta-1', 'beta-1'])).toMatchObject({ model: { id: 'delta-1' } });
});

test('FALL-6 a dry run returns the listed model that would be called, with its prices', async () => {
  const world = await worldOf({ known: { 'alpha-1': openFor(9), 'beta-1': openFor(9) } });
  expect(await world.ask(chain, true)).toMatchObject({
    kind: 'dry_run',
    model: { id: 'gamma-1' },
    holdPicos: heldFor(100) / 4n,
  });
  expect([world.log, world.sent]).toEqual([[], []]);
});

test('FALL-5 if the circuits of all listed models are open, the 503 has the earliest retry', async () => {
  const known = { 'alpha-1': openFor(20), 'beta-1': openFor(30), 'gamma-1': openFor(4), 'delta-1': openFor(8) };
  const world = await worldOf({ known });
  await expect(world.ask(chain)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 4 });
  expect(world.log).toEqual([]);
});

test('FALL-6 each lost probe releases its hold, and the next hold has the prices of its model', async () => {
  const held: bigint[] = [];
  const world = await worldOf(
    { found: { 'alpha-1': openFor(1), 'beta-1': openFor(1) } },
    {
      play: async () => {
        held.push(...[...(await world.account()).holds.values()].map(({ amountPicos }) => amountPicos));
        return answered();
      },
    },
  );
  expect(await world.ask(chain)).toMatchObject({ model: { id: 'gamma-1' }, fallbackFrom: 'alpha-1' });
  expect([world.held, held]).toEqual([['alpha-1', 'beta-1', 'gamma-1'], [heldFor(100) / 4n]]);
  expect(world.records()).toMatchObject([
    { holdId: 'request-1.0', outcome: 'released', reason: 'given_up', model: 'alpha-1' },
    { holdId: 'request-1.1', outcome: 'released', reason: 'given_up', model: 'beta-1' },
    { holdId: 'request-1.2', outcome: 'settled', model: 'gamma-1' },
  ]);
});

test('FALL-6 after a lost probe, a listed model with an open circuit gets no hold', async () => {
  const world = await worldOf({ found: { 'alpha-1': openFor(1) }, known: { 'beta-1': openFor(9) } });
  expect(await world.ask(['beta-1', 'gamma-1'])).toMatchObject({ model: { id: 'gamma-1' } });
  expect(world.held).toEqual(['alpha-1', 'gamma-1']);
});

test('FALL-6 a listed model that loses its probe gets one hold', async () => {
  const world = await worldOf({ known: { 'alpha-1': openFor(9) }, found: { 'beta-1': openFor(1) } });
  expect(await world.ask(chain)).toMatchObject({ model: { id: 'gamma-1' } });
  expect(world.held).toEqual(['beta-1', 'gamma-1']);
});

test('FALL-5 if every model loses its probe, the last release has the error and no hold remains', async () => {
  const lost = Object.fromEntries(['alpha-1', ...chain].map((id) => [id, openFor(3)]));
  const world = await worldOf({ found: lost });
  await expect(world.ask(chain)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
  expect(world.records().map(({ holdId, reason }) => [holdId, reason])).toEqual([
    ['request-1.0', 'given_up'],
    ['request-1.1', 'given_up'],
    ['request-1.2', 'given_up'],
    ['request-1.3', 'service_unavailable'],
  ]);
  const { holds, spentPicos } = await world.account();
  expect([world.sent, holds.size, spentPicos]).toEqual([[], 0, 0n]);
});

test.for([
  ['a lost probe', { known: { 'beta-1': openFor(9) }, found: { 'alpha-1': openFor(2), 'gamma-1': openFor(8) } }, 2],
  ['a known opening', { known: { 'beta-1': openFor(4), 'gamma-1': openFor(8) }, found: { 'alpha-1': openFor(9) } }, 4],
] as const)('FALL-6 the 503 before dispatch has the earliest retry, that of %s', async ([_what, doors, seconds]) => {
  const world = await worldOf(doors);
  await expect(world.ask(['beta-1', 'gamma-1'])).rejects.toMatchObject({
    code: 'service_unavailable',
    retryAfterSeconds: seconds,
  });
  expect([world.sent, (await world.account()).holds.size]).toEqual([[], 0]);
});

/** The hold with this index fails. */
const failingOnce = (index = 0): WorldOptions['fault'] => {
  let holds = 0;
  return (method) => {
    if (method !== 'hold') return undefined;
    holds += 1;
    return holds === index + 1 ? { kind: 'fails' } : undefined;
  };
};

test('FALL-6 each model has hold ids of its own, so the last one is also tried after failed holds', async () => {
  const found = Object.fromEntries(['alpha-1', 'beta-1', 'gamma-1'].map((id) => [id, openFor(3)]));
  const world = await worldOf({ found }, { fault: failingOnce() });
  expect(await world.clock.until(world.ask(chain))).toMatchObject({ model: { id: 'delta-1' } });
  expect(world.held).toEqual(['alpha-1', ...chain]);
  expect(world.records().at(-1)).toMatchObject({ holdId: 'request-1.4', outcome: 'settled', model: 'delta-1' });
});

test('FALL-6 the last model is tried although each model before it needs a smaller hold', async () => {
  const found = Object.fromEntries(['alpha-1', 'beta-1', 'gamma-1'].map((id) => [id, openFor(3)]));
  const limits = { contextTokens: 4_000, outputTokensMax: 3_000, outputTokensDefault: 3_000 };
  const same = ['alpha-1', ...chain].map((id, index) => text({ id, limits, ...(index > 0 && { aliases: [] }) }));
  const cap = { keyId: 'k', kind: 'total', epoch: 2 } as const;
  const world = await worldOf({ found }, { models: same, cap });
  world.memory.setCap(ACCOUNT, 'k', { limitPicos: heldFor(1_000), kind: 'total' }, 0);
  const asked = world.generate({}, {}, { fallbacks: { header, modelIds: chain } });
  expect(await asked).toMatchObject({ model: { id: 'delta-1' }, chosenCap: 1_000 });
  expect(world.log.filter((call) => call === 'hold')).toHaveLength(8);
});

/** Sends a request whose models all lose their probe, with an idempotency key. */
const askClaimed = (world: Awaited<ReturnType<typeof worldOf>>) => {
  const request = { accountId: ACCOUNT, keyHash: 'one', requestId: REQUEST, fingerprint: 'one' };
  const stored = { status: 200, headers: {}, body: '' };
  const work = answerOnce(
    idempotencyOf(world.deps.ledger),
    { ...request, renderError: () => stored },
    async (claimed): Promise<void> => {
      await world.generate(
        { idempotent: { claimed, toStored: () => stored } },
        { outputTokensMax: 100 },
        { fallbacks: { header, modelIds: chain } },
      );
    },
  );
  return world.clock.until(work);
};

test('FALL-6 with an idempotency key, a request without a further hold id ends with its circuit error', async () => {
  const found = Object.fromEntries(['alpha-1', ...chain].map((id) => [id, openFor(3)]));
  const world = await worldOf({ found }, { fault: failingOnce() });
  await expect(askClaimed(world)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
  expect(world.held).toEqual(['alpha-1', 'beta-1', 'gamma-1']);
  expect(world.records().at(-1)).toMatchObject({ holdId: 'request-1.3', reason: 'service_unavailable' });
});

test('IDEM-8 a request with an idempotency key places no fifth hold, which a takeover would not end', async () => {
  const found = Object.fromEntries(['alpha-1', ...chain].map((id) => [id, openFor(3)]));
  const world = await worldOf({ found }, { fault: failingOnce(3) });
  await expect(askClaimed(world)).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(world.log.filter((call) => call === 'hold')).toHaveLength(4);
});

test('FALL-6 a failed call is not followed by a call of the next listed model', async () => {
  const play = async () => {
    throw new GatewayError('upstream_error', 'broken');
  };
  const world = await worldOf({ known: { 'alpha-1': openFor(9) } }, { play });
  await expect(world.ask(chain)).rejects.toMatchObject({ code: 'upstream_error' });
  expect([world.sent.length, world.held]).toEqual([1, ['beta-1']]);
});

test('FALL-6 a listed model that is disabled for missing usage is not skipped', async () => {
  const before = await worldOf({ known: { 'alpha-1': openFor(9), 'beta-1': quarantined } });
  await expect(before.ask(chain)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 9 });
  const after = await worldOf({ found: { 'alpha-1': openFor(9), 'beta-1': quarantined } });
  await expect(after.ask(chain)).rejects.toMatchObject({ code: 'model_unavailable' });
  expect([before.sent, after.sent]).toEqual([[], []]);
});

test('FALL-6 a request that a listed model cannot serve is not sent to the next one', async () => {
  const world = await worldOf({ known: { 'alpha-1': openFor(9) } });
  const validateFor = ({ id }: { readonly id: string }) => {
    if (id === 'beta-1') throw new GatewayError('invalid_request_error', 'seed', { param: 'seed' });
    return requestOf();
  };
  const asked = world.generate({}, {}, { fallbacks: { header, modelIds: chain }, validateFor });
  await expect(asked).rejects.toMatchObject({ param: 'seed' });
  expect(world.log).toEqual([]);
});

test('FALL-2 FALL-6 a request that exceeds the context of a listed model is 400 when its turn comes', async () => {
  const small = text({ id: 'beta-1', prices: halfOf, limits: { ...limits, contextTokens: 600 } });
  const ask = async (doors: Doors) => {
    const world = await worldOf(doors, { models: [text(), small, models[2]] });
    const prompt = { bytes: 100_000, images: [] };
    return world.generate({}, { prompt }, { fallbacks: { header, modelIds: ['beta-1', 'gamma-1'] } });
  };
  expect(await ask({})).toMatchObject({ model: { id: 'alpha-1' } });
  const known = { 'alpha-1': openFor(9) };
  await expect(ask({ known })).rejects.toMatchObject({ code: 'context_length_exceeded', status: 400 });
});

test.for([
  [['beta-1', 'nothing'], `${header}: "nothing" does not exist or is not enabled. Use a model of GET /api/models/`],
  [['beta-1', 'alpha-1'], `${header}: "alpha-1" is the requested model. Use a model of GET /api/models/`],
  [['other-1', 'beta-1'], `${header}: "other-1" is not an allowed fallback for "alpha-1". Use a model of GET /api/`],
  [['beta-1', 'gamma-1', 'beta-1'], `${header}: "beta-1" repeats a model. Name each model once.`],
  [['beta-1', 'beta'], `${header}: "beta" repeats a model. Name each model once.`],
] as const)('FALL-6 the list %s is 400 even while every circuit is closed', async ([modelIds, message]) => {
  const world = await worldOf({});
  await expect(world.ask(modelIds)).rejects.toMatchObject({
    code: 'invalid_fallback_model',
    status: 400,
    param: header,
    message: expect.stringContaining(message),
  });
  expect(world.log).toEqual([]);
});
