import { expect, test } from 'vitest';
import type { CallRejection, Circuits } from '../../../../lambdas/core/circuit/circuit.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { usageOfRequest } from '../../../../lambdas/core/ledger/usage.ts';
import { generateText } from '../../../../lambdas/core/text/generate-text.ts';
import type { WireCall } from '../../../../lambdas/core/text/text-wire.ts';
import { createMoment } from '../../../support/memory/faults.ts';
import { price, text } from '../catalog/sample-data.ts';
import { ACCOUNT, answered, createWorld, ended, heldFor, raw, requestOf, type WorldOptions } from './text-world.ts';

const open: CallRejection = { kind: 'open', retryAfterSeconds: 17 };
const quarantined: CallRejection = { kind: 'quarantined' };

interface Doors {
  /** Rejections known before the hold, by model id. */
  readonly known?: Readonly<Record<string, CallRejection>>;
  /** Rejections found just before dispatch, by model id. */
  readonly found?: Readonly<Record<string, CallRejection>>;
}

const circuitsOf = (reports: string[], { known = {}, found = {} }: Doors): Circuits => ({
  peek: ({ modelId }) => known[modelId],
  acquire: async ({ modelId }) =>
    found[modelId] ?? {
      kind: 'permit',
      report: async (outcome) => void reports.push(`${modelId} ${outcome}`),
      started: async () => void reports.push(`${modelId} begun`),
    },
  usageMissing: async (modelId) => void reports.push(`${modelId} without usage`),
});

/** The requested model, a valid fallback model, and a model that is too expensive to be a fallback model. */
const models = [
  text(),
  text({ id: 'beta-1', aliases: [] }),
  text({ id: 'other-1', aliases: [], prices: [price({ rates: { input: '9', output: '40' } })] }),
];

/** Models that `x-service-fallback-model` or `x-service-fallback-models` names. */
const named = (...modelIds: string[]) => ({
  header: modelIds.length > 1 ? 'x-service-fallback-models' : 'x-service-fallback-model',
  modelIds,
});

const worldOf = async (doors: Doors, options: WorldOptions = {}) => {
  const reports: string[] = [];
  const world = await createWorld({ models, circuits: circuitsOf(reports, doors), ...options });
  const ask = (fallbackModelId?: string, dryRun = false) =>
    world.generate(
      { dryRun },
      { outputTokensMax: 100 },
      { fallbacks: fallbackModelId === undefined ? undefined : named(fallbackModelId) },
    );
  return { ...world, ask, reports };
};

test('FALL-1 the fallback model is not used while the circuit of the model is closed', async () => {
  const world = await worldOf({});
  expect(await world.ask('beta-1')).toMatchObject({
    kind: 'answer',
    model: { id: 'alpha-1' },
    fallbackFrom: undefined,
  });
  expect(world.reports).toEqual(['alpha-1 succeeded']);
});

test('FALL-1 and FALL-3 with an open circuit, the fallback model is called, charged and reported', async () => {
  const world = await worldOf({ known: { 'alpha-1': open } });
  const outcome = await world.ask('beta-1');
  expect(outcome).toMatchObject({ kind: 'answer', model: { id: 'beta-1' }, fallbackFrom: 'alpha-1' });
  expect(world.log).toEqual(['hold', 'send', 'putRecord', 'apply']);
  expect(world.records()).toMatchObject([{ model: 'beta-1', outcome: 'settled' }]);
});

test('FALL-5 an open circuit without a fallback model is 503 with the seconds to the next probe', async () => {
  const world = await worldOf({ known: { 'alpha-1': open } });
  await expect(world.ask()).rejects.toMatchObject({
    code: 'service_unavailable',
    retryAfterSeconds: 17,
    // The gateway does not count it as its own failure.
    upstreamFailed: true,
  });
  expect([world.log, world.sent]).toEqual([[], []]);
});

test('FALL-5 an open circuit of both the model and the fallback model is 503', async () => {
  const world = await worldOf({ known: { 'alpha-1': open, 'beta-1': { ...open, retryAfterSeconds: 3 } } });
  await expect(world.ask('beta-1')).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
  expect(world.log).toEqual([]);
});

test.for(['nothing', 'alpha-1', 'other-1', 'beta-1, alpha-1', ''])(
  'FALL-4 an invalid fallback model "%s" is rejected even while the circuit is closed',
  async (id) => {
    const world = await worldOf({});
    await expect(world.ask(id)).rejects.toMatchObject({
      code: 'invalid_fallback_model',
      status: 400,
      param: 'x-service-fallback-model',
    });
    expect(world.log).toEqual([]);
  },
);

test('BILL-10 a model disabled for missing usage is unavailable even with a fallback model', async () => {
  const world = await worldOf({ known: { 'alpha-1': quarantined } });
  await expect(world.ask('beta-1')).rejects.toMatchObject({ code: 'model_unavailable', status: 503 });
});

test('FALL-1 losing the probe releases the hold and places one for the fallback model', async () => {
  const world = await worldOf({ found: { 'alpha-1': open } });
  expect(await world.ask('beta-1')).toMatchObject({ model: { id: 'beta-1' }, fallbackFrom: 'alpha-1' });
  expect(world.log).toEqual(['hold', 'putRecord', 'apply', 'hold', 'send', 'putRecord', 'apply']);
  expect(world.records()).toMatchObject([
    { holdId: 'request-1.0', outcome: 'released', reason: 'given_up', model: 'alpha-1' },
    { holdId: 'request-1.1', outcome: 'settled', model: 'beta-1' },
  ]);
});

test('FALL-1 a fallback model is held and charged at its own prices', async () => {
  const cheaper = text({ id: 'beta-1', aliases: [], prices: [price({ rates: { input: '4', output: '20' } })] });
  const held: bigint[] = [];
  const world = await worldOf(
    { found: { 'alpha-1': open } },
    {
      models: [text(), cheaper],
      play: async () => {
        held.push(...[...(await world.account()).holds.values()].map(({ amountPicos }) => amountPicos));
        // The request is still in progress: its released first hold is not its result (BILL-15).
        const asked = { accountId: ACCOUNT, requestId: 'request-1' };
        expect((await usageOfRequest(world.memory, world.memory, asked))?.kind).toBe('open');
        return answered();
      },
    },
  );
  await world.ask('beta-1');
  expect(held).toEqual([heldFor(100) / 2n]);
  expect(world.records()[1]).toMatchObject({ amountPicos: 40n * 4_000_000n + 10n * 20_000_000n });
});

test('FALL-5 losing the probe without a fallback model is 503, and the hold is released', async () => {
  const world = await worldOf({ found: { 'alpha-1': open } });
  await expect(world.ask()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 17 });
  expect([world.log, world.sent]).toEqual([['hold', 'putRecord', 'apply'], []]);
  expect(world.records()).toMatchObject([{ outcome: 'released', reason: 'service_unavailable', model: 'alpha-1' }]);
  const { holds, spentPicos } = await world.account();
  expect([holds.size, spentPicos]).toEqual([0, 0n]);
});

test('GEN-5 a failed call of the fallback model is not followed by a call of another model', async () => {
  const play = async () => {
    throw new GatewayError('upstream_error', 'broken');
  };
  const world = await worldOf({ known: { 'alpha-1': open } }, { play });
  await expect(world.ask('beta-1')).rejects.toMatchObject({ code: 'upstream_error' });
  expect([world.sent.length, world.reports]).toEqual([1, ['beta-1 failed']]);
});

test.for([
  ['upstream_error', undefined, 'failed'],
  ['upstream_timeout', undefined, 'timed_out'],
  ['upstream_capacity', undefined, 'failed'],
  ['service_unavailable', true, 'failed'],
  ['service_unavailable', undefined, 'succeeded'],
  ['model_unavailable', undefined, 'succeeded'],
  ['invalid_request_error', undefined, 'succeeded'],
  ['content_filter', undefined, 'succeeded'],
  ['internal_error', undefined, 'unknown'],
] as const)('FALL-1 %s (%s) counts as %s for the circuit', async ([code, upstreamFailed, outcome]) => {
  const details = upstreamFailed === undefined ? {} : { upstreamFailed };
  const play = async () => {
    throw new GatewayError(code, 'no', details);
  };
  const world = await worldOf({}, { play });
  await expect(world.ask()).rejects.toMatchObject({ code });
  expect(world.reports).toEqual([`alpha-1 ${outcome}`]);
});

test('FALL-1 a store that fails after a successful call does not count against the provider', async () => {
  const world = await worldOf(
    {},
    {
      fault: (method) => (method === 'putRecord' ? { kind: 'fails' } : undefined),
      outboxFaults: { put: { kind: 'fails' } },
    },
  );
  await expect(world.clock.until(world.ask())).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(world.reports[0]).toBe('alpha-1 succeeded');
});

test('BILL-10 a response without usage is counted for its model', async () => {
  const world = await worldOf({}, { play: async () => ({ ...answered(), usage: undefined }) });
  await world.ask();
  expect(world.reports).toContain('alpha-1 without usage');
});

test('BILL-16 a dry run returns the hold and uses no store', async () => {
  const world = await worldOf({});
  expect(await world.ask(undefined, true)).toMatchObject({
    kind: 'dry_run',
    model: { id: 'alpha-1' },
    holdPicos: heldFor(100),
    outputTokensMax: 100,
  });
  expect([world.log, world.sent]).toEqual([[], []]);
  const rejection = await worldOf({ known: { 'alpha-1': open } });
  await expect(rejection.ask(undefined, true)).rejects.toMatchObject({ code: 'service_unavailable' });
});

test('KEY-8 a fallback model outside the models of the key is 403, also while it is not needed', async () => {
  const world = await worldOf({}, { allowed: ['alpha-1'] });
  const refusal = { status: 403, code: 'model_not_allowed' };
  await expect(world.ask('beta-1')).rejects.toMatchObject({ ...refusal, param: 'x-service-fallback-model' });
  await expect(world.ask('other-1')).rejects.toMatchObject(refusal);
  expect(await world.ask()).toMatchObject({ kind: 'answer' });
  const other = await worldOf({}, { allowed: ['beta-1'] });
  await expect(other.ask()).rejects.toMatchObject({ ...refusal, param: 'model' });
  expect(other.log).toEqual([]);
});

test('FALL-1 the request is validated for the fallback model', async () => {
  const world = await worldOf({ known: { 'alpha-1': open } });
  const validateFor = ({ id }: { readonly id: string }) => {
    if (id === 'beta-1') throw new GatewayError('invalid_request_error', 'seed', { param: 'seed' });
    return requestOf();
  };
  await expect(world.generate({}, {}, { fallbacks: named('beta-1'), validateFor })).rejects.toMatchObject({
    param: 'seed',
  });
  expect(world.log).toEqual([]);
});

test('FALL-1 the first event of a stream reports to the circuit that the call has started', async () => {
  const rest = createMoment();
  const events = async function* () {
    yield raw('a');
    await rest.until;
    yield ended();
  };
  const play = async () =>
    ({ kind: 'stream', events: events(), close: () => undefined, usageSoFar: () => undefined }) as const;
  const world = await worldOf({}, { play });
  const generated = await world.generate({}, { stream: true });
  expect([generated.kind, world.reports]).toEqual(['stream', ['alpha-1 begun']]);
  rest.come();
});

test('BILL-16 a dry run fetches no remote content', async () => {
  const world = await createWorld({ models });
  let fetched = 0;
  const gather = async () => {
    fetched += 1;
  };
  const [wire] = world.deps.wires.values();
  const fetching = {
    buildCall: (call: WireCall) => ({ ...wire!.buildCall(call), gather }),
  };
  const deps = {
    ...world.deps,
    wires: new Map([...world.deps.wires.keys()].map((name) => [name, fetching] as const)),
  };
  const order = {
    protocol: 'chat_completions',
    modelId: 'alpha-1',
    endUser: undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
    validateFor: () => requestOf(),
  } as const;
  const caller = { accountId: 'account-1', requestId: 'r', hostEndsAtMs: undefined };
  await generateText(deps, caller, order, { render: () => '', dryRun: true });
  expect(fetched).toBe(0);
  await generateText(deps, caller, order, { render: () => '', dryRun: false });
  expect(fetched).toBe(1);
});

test('GEN-8 and FALL-4 an invalid fallback model is rejected before an unavailable model', async () => {
  const world = await createWorld({ models, wires: [] });
  const asked = world.generate({}, {}, { fallbacks: named('nothing') });
  await expect(asked).rejects.toMatchObject({ code: 'invalid_fallback_model' });
});
