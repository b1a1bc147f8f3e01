import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { FundedAccounts } from '../../../../lambdas/core/limits/funded-accounts.ts';
import { generateText } from '../../../../lambdas/core/text/generate-text.ts';
import type { WireCall } from '../../../../lambdas/core/text/text-wire.ts';
import { ACCOUNT, createWorld, REQUEST, requestOf } from './text-world.ts';

/** A world whose provider needs the bytes of images. */
const worldOf = async (usd: string, outputTokensMax = 1_000) => {
  const world = await createWorld({ usd });
  const opened: string[] = [];
  let refusal: GatewayError | undefined;
  const [wire] = world.deps.wires.values();
  if (!wire) throw new Error('no wire');
  const fetching = {
    buildCall: (call: WireCall) => ({
      ...wire.buildCall(call),
      gather: async () => {
        world.log.push('fetch');
        if (refusal) throw refusal;
      },
    }),
  };
  const funded = new FundedAccounts(world.clock);
  const deps = { ...world.deps, funded, wires: new Map([['openai_chat', fetching]] as const) };
  const caller = {
    accountId: ACCOUNT,
    requestId: REQUEST,
    hostEndsAtMs: undefined,
    openMemory: (until: string) => {
      opened.push(until);
      return { reserve: () => undefined, settle: () => undefined };
    },
  };
  const order = {
    protocol: 'chat_completions',
    modelId: 'alpha-1',
    endUser: undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
    validateFor: () => requestOf({ outputTokensMax }),
  } as const;
  let requests = 0;
  const ask = () => {
    requests += 1;
    const request = { ...caller, requestId: `${REQUEST}-${requests}` };
    return generateText(deps, request, order, { render: () => '', dryRun: false });
  };
  const failWith = (error: GatewayError): void => {
    refusal = error;
  };
  return { ...world, funded, opened, ask, failWith };
};

test('GEN-8 an account without a balance is 402 before an image is fetched', async () => {
  const { log, ask, opened } = await worldOf('0');
  await expect(ask()).rejects.toMatchObject({ code: 'insufficient_balance', status: 402 });
  expect([log, opened]).toEqual([['readAccount'], []]);
});

test('GEN-8 an account whose balance is too small is 402 before an image is fetched', async () => {
  const { log, ask } = await worldOf('0.01');
  await expect(ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect(log).toEqual(['readAccount']);
});

test('GEN-8 an account is read before its first images, and not while its balance is known', async () => {
  const { log, ask, opened } = await worldOf('1');
  await ask();
  expect(log).toEqual(['readAccount', 'fetch', 'hold', 'send', 'putRecord', 'apply']);
  log.length = 0;
  await ask();
  expect(log).toEqual(['fetch', 'hold', 'send', 'putRecord', 'apply']);
  expect(opened).toEqual(['started', 'started']);
});

test('GEN-8 after a rejected hold the balance is unknown, and images are fetched at most once more', async () => {
  const { log, ask, funded } = await worldOf('0');
  funded.mark({ accountId: ACCOUNT, amountPicos: 1n });
  for (let request = 0; request < 3; request += 1)
    await expect(ask()).rejects.toMatchObject({ code: 'insufficient_balance' });
  expect(log).toEqual(['fetch', 'hold', 'readAccount', 'readAccount']);
});

test('GEN-8 a request above its budget is rejected before an image is fetched', async () => {
  const { log, ask } = await worldOf('1000', 10_000_000);
  await expect(ask()).rejects.toMatchObject({ code: 'request_budget_exceeded' });
  expect(log).toEqual([]);
});

test('CHAT-6 an image that cannot be fetched ends the request before its hold', async () => {
  const { log, ask, failWith } = await worldOf('1');
  failWith(new GatewayError('invalid_image_format', 'gone'));
  await expect(ask()).rejects.toMatchObject({ code: 'invalid_image_format' });
  expect(log).toEqual(['readAccount', 'fetch']);
});
