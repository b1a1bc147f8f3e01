import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { ImagesWithheld } from '../../../../lambdas/core/images/image-wire.ts';
import { type ImageScript, ScriptedImageWire } from '../../../support/memory/scripted-image-wire.ts';
import { usage } from './image-samples.ts';
import { imageWorld, PER_IMAGE, paint } from './image-world.ts';

const blocked = new GatewayError('content_filter', 'blocked');
const counted = usage({ input: 10, output: 100 });
/** Prices per million tokens: 5 USD for text, 30 USD for all output. */
const byTokens = paint({
  capabilities: { quality: ['low', 'high'], mask: false, aspectRatio: false, widthHeight: false },
  prices: [
    {
      unit: '1M_tokens',
      rates: { textInput: '5', imageOutput: '30' },
      holdEstimatePerImage: { '1024x1024': { low: '0.006', high: '0.211' } },
    },
  ],
});

const silent: ImageScript = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

type World = Awaited<ReturnType<typeof imageWorld>>;

const counterOf = async (world: World) => {
  const [record] = world.records();
  const account = await world.memory.readAccount('account-1');
  return { record, used: account?.uncollected?.picos, spentPicos: account?.spentPicos };
};

test('BILL-21 a deadline costs the price of the requested images and is silent', async () => {
  const world = await imageWorld({ wire: new ScriptedImageWire(silent) });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 504, body: 'upstream_timeout' });
  const picos = 2n * PER_IMAGE;
  const { record, ...counter } = await counterOf(world);
  expect(record).toMatchObject({ outcome: 'released', amountPicos: 0n, uncollectedPicos: picos, silentDeadline: true });
  expect(counter).toEqual({ used: picos, spentPicos: 0n });
});

test.for([
  ["the provider's counts", counted, byTokens, 10n * 5_000_000n + 100n * 30_000_000n],
  ['the price of the requested images, without counts,', undefined, paint(), 2n * PER_IMAGE],
] as const)('BILL-21 images that the provider withholds cost %s', async ([, reported, model, picos]) => {
  const wire = new ScriptedImageWire(() => Promise.reject(new ImagesWithheld(blocked, reported)));
  const world = await imageWorld({ wire, models: [model] });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 400, body: 'content_filter' });
  const { record, used } = await counterOf(world);
  expect([record?.uncollectedPicos, record?.usesAllowance, used]).toEqual([picos, true, picos]);
});

test.for([
  ['a prompt that the provider rejects', blocked],
  ['a failure of the provider', new GatewayError('upstream_error', 'broken')],
  ["the provider's own timeout", new GatewayError('upstream_timeout', 'slow')],
] as const)('BILL-21 %s costs nothing', async ([, error]) => {
  const world = await imageWorld({ wire: new ScriptedImageWire(() => Promise.reject(error)) });
  await world.send('r1');
  const { record, used } = await counterOf(world);
  expect(record).not.toHaveProperty('uncollectedPicos');
  expect(used).toBeUndefined();
});

test('BILL-21 an empty list of images costs its hold and uses the allowance', async () => {
  const world = await imageWorld({
    wire: new ScriptedImageWire(() => Promise.resolve({ images: [], usage: undefined })),
  });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 502, body: 'upstream_error' });
  const { record, used } = await counterOf(world);
  expect([record?.uncollectedPicos, record?.usesAllowance, used]).toEqual([2n * PER_IMAGE, true, 2n * PER_IMAGE]);
});

test('BILL-21 an account that used its allowance gets no images, and its dry runs do', async () => {
  const world = await imageWorld({ wire: new ScriptedImageWire(silent), uncollectedDailyPicos: 0n });
  expect(await world.send('r1')).toMatchObject({ status: 504 });
  expect(await world.send('r4')).toMatchObject({ status: 429, body: 'rate_limit_exceeded' });
  expect(world.wire.calls).toHaveLength(1);
  expect(await world.draw({ dryRun: true }, {}, 'r5')).toMatchObject({ kind: 'dry_run' });
});
