import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { drawingOf, pictures, ScriptedImageWire } from '../../../support/memory/scripted-image-wire.ts';
import { imageWorld } from './image-world.ts';

const filtered = new GatewayError('content_filter', 'not this one');

test('IDEM-2 a repeated idempotency key gets the same bytes and is charged once', async () => {
  const world = await imageWorld();
  const first = await world.sendKeyed('r1', { n: 2 });
  const again = await world.sendKeyed('r2', { n: 2 });
  expect(again).toEqual({ ...first, replayed: true });
  expect(world.wire.calls).toHaveLength(1);
  expect(world.hasImages(again.body)).toBe(true);
  expect(await world.charges()).toHaveLength(1);
});

test('IDEM-7 a rejection by the provider is stored and replayed, a failure is not', async () => {
  const refusing = await imageWorld({ wire: new ScriptedImageWire(() => Promise.reject(filtered)) });
  await refusing.sendKeyed('r1');
  expect(await refusing.sendKeyed('r2')).toEqual({ status: 400, body: 'error content_filter', replayed: true });
  expect(refusing.wire.calls).toHaveLength(1);
  const failing = await imageWorld({ wire: new ScriptedImageWire(() => drawingOf([])) });
  expect((await failing.sendKeyed('r1')).status).toBe(502);
  failing.wire.say(() => drawingOf(pictures(1)));
  expect(await failing.sendKeyed('r2')).toMatchObject({ status: 200, replayed: false });
  expect(await failing.charges()).toHaveLength(1);
});
