import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { generateText } from '../../../../lambdas/core/text/generate-text.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { ACCOUNT, answered, createWorld, REQUEST, requestOf, type WorldOptions } from '../text/text-world.ts';

/** Asks a provider that takes 70 ms, behind stores that each take 5 ms. Returns the reported times. */
const timesOf = async (play: NonNullable<WorldOptions['play']>) => {
  const times: number[] = [];
  const world = await createWorld({ play });
  const clock = new ManualClock(world.deps.ledger.clock.now());
  const takes = async <Result>(ms: number, work: () => Promise<Result>): Promise<Result> => {
    await clock.advance(ms);
    return work();
  };
  const { store } = world.deps.ledger;
  const deps = {
    ...world.deps,
    wires: new Map(
      [...world.deps.wires].map(([name, wire]) => [
        name,
        {
          buildCall: (call: Parameters<typeof wire.buildCall>[0]) => {
            const { send } = wire.buildCall(call);
            return { send: (dispatch: Parameters<typeof send>[0]) => takes(70, () => send(dispatch)) };
          },
        },
      ]),
    ),
    ledger: {
      ...world.deps.ledger,
      clock,
      store: Object.assign(Object.create(store), {
        hold: (...order: Parameters<typeof store.hold>) => takes(5, () => store.hold(...order)),
        putRecord: (...order: Parameters<typeof store.putRecord>) => takes(5, () => store.putRecord(...order)),
      }),
    },
  };
  const caller = {
    accountId: ACCOUNT,
    requestId: REQUEST,
    hostEndsAtMs: undefined,
    providerTook: (ms: number) => void times.push(ms),
  };
  const order = {
    protocol: 'chat_completions',
    modelId: 'alpha-1',
    endUser: undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
    validateFor: () => requestOf({}),
  } as const;
  await generateText(deps, caller, order, { render: () => '{}', dryRun: false }).catch(() => undefined);
  return { times, passedMs: clock.now() - world.deps.ledger.clock.now() };
};

test('OPS-3 a paid call reports the time of the provider, without that of the stores', async () => {
  expect(await timesOf(async () => answered())).toEqual({ times: [70], passedMs: 80 });
});

test('OPS-3 a paid call that the provider fails reports no time', async () => {
  const refused = new GatewayError('upstream_error', 'broken');
  expect((await timesOf(() => Promise.reject(refused))).times).toEqual([]);
});
