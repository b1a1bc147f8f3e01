import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import type { ImageAsk } from '../../../../lambdas/core/images/image-wire.ts';
import { byFile, byUrl } from './image-samples.ts';
import { imageWorld } from './image-world.ts';

const asked = { references: byUrl(2) };
const files = [byFile({ width: 10, height: 10 }), byFile({ width: 20, height: 20 })];

const worldOf = async (usd?: string) => {
  const world = await imageWorld(usd === undefined ? {} : { usd });
  const gather = async (given: ImageAsk): Promise<ImageAsk> => {
    world.calls.push('fetch');
    return { ...given, references: files };
  };
  return { ...world, gather };
};

test('GEN-8, CHAT-6 images are fetched after the balance is known and before the hold', async () => {
  const { calls, wire, gather, answer } = await worldOf();
  await answer({ gather }, asked);
  expect(calls.slice(0, 3)).toEqual(['ledger.readAccount', 'fetch', 'ledger.hold']);
  expect(wire.calls).toMatchObject([{ references: files }]);
});

test('GEN-8 an account that cannot pay gets 402 before anything is fetched', async () => {
  const { calls, gather, send } = await worldOf('0.000001');
  expect(await send('r1', asked, { gather })).toMatchObject({ status: 402 });
  expect(calls).toEqual(['ledger.readAccount']);
});

test('BILL-16 a dry run fetches no image', async () => {
  const { calls, clock, draw, gather } = await worldOf();
  expect(await clock.until(draw({ gather, dryRun: true }, asked))).toMatchObject({ kind: 'dry_run' });
  expect(calls).toEqual([]);
});

test('CHAT-6 an image that cannot be fetched costs nothing', async () => {
  const { calls, charges, send } = await worldOf();
  const gather = async () => {
    throw new GatewayError('invalid_image_format', 'not there');
  };
  expect(await send('r1', asked, { gather })).toMatchObject({ status: 400, body: 'invalid_image_format' });
  expect([calls, await charges()]).toEqual([['ledger.readAccount'], []]);
});
