import { sign } from '@telegram-apps/init-data-node';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { placeHold } from '../../../lambdas/core/ledger/hold.ts';
import { HOLDS_MAX } from '../../../lambdas/core/ledger/ledger.ts';
import { ledgerScene } from '../core/ledger/ledger-scene.ts';
import { BOT_TOKEN, createChain } from './chain.ts';
import { functionUrlEvent, invoke, type Sent } from './function-url.ts';

/** Sends the same request twice, so that the second one exceeds a limit. Returns the results of both. */
const told = async (options: Parameters<typeof createChain>[0], sent: (apiKey: string) => Sent) => {
  const { handler, apiKey, finished } = await createChain(options);
  for (const _ of [1, 2]) await invoke(handler, functionUrlEvent(sent(apiKey)));
  return finished.map(({ summary: { route, errorCode, limit } }) => [route, errorCode, limit]);
};

const tma = sign({ user: { id: 4711, first_name: 'A' } }, BOT_TOKEN, new Date(Date.UTC(2026, 10, 1)));

test.each([
  ['LIM-1', 'address', 'listPrices', { addressBurst: 1 }, () => ({ path: '/api/models' })],
  [
    'LIM-2',
    'key',
    'getAccount',
    { keyBurst: 1 },
    (apiKey: string) => ({ path: '/api/account', headers: { authorization: `Bearer ${apiKey}` } }),
  ],
  [
    'LIM-2',
    'chat',
    'getAppAccount',
    { keyBurst: 1 },
    () => ({ path: '/app/api/account', headers: { authorization: `tma ${tma}` } }),
  ],
] as const)('%s, OPS-3 a request that exceeds the %s is counted under it', async (_, limit, route, options, sent) => {
  expect(await told(options, sent)).toEqual([
    [route, undefined, undefined],
    [route, 'rate_limit_exceeded', limit],
  ]);
});

/** Returns the limit that the chain records for an error of a handler. */
const limitOf = async (throwing: () => unknown): Promise<unknown> => {
  const { handler, apiKey, finished } = await createChain({
    handle: async () => {
      await throwing();
      throw new Error('no request was rejected');
    },
  });
  const headers = { authorization: `Bearer ${apiKey}` };
  await invoke(handler, functionUrlEvent({ path: '/api/account', headers }));
  return finished.at(-1)?.summary.limit;
};

test('LIM-8, OPS-3 a request above the limit of open holds is counted', async () => {
  const scene = await ledgerScene(1_000_000n);
  for (let hold = 0; hold < HOLDS_MAX; hold += 1) await placeHold(scene.deps, scene.order({ requestId: `r${hold}` }));
  expect(await limitOf(() => placeHold(scene.deps, scene.order({ requestId: 'one too many' })))).toBe('holds');
  const others = new GatewayError('upstream_capacity', 'of the vendor');
  expect(await limitOf(() => Promise.reject(others))).toBeUndefined();
});
