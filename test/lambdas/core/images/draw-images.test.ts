import { expect, test } from 'vitest';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';
import { recordedAmount } from '../../../../lambdas/core/ledger/audit.ts';
import { parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { fails } from '../../../support/memory/faults.ts';
import { freePassage } from '../../../support/memory/free-permit.ts';
import {
  drawingOf,
  imageOf,
  lostImage,
  pictures,
  ScriptedImageWire,
} from '../../../support/memory/scripted-image-wire.ts';
import { ask, byUrl, inPixels, usage } from './image-samples.ts';
import { imageWorld, PER_IMAGE, paint, START } from './image-world.ts';

const filtered = new GatewayError('content_filter', 'not this one');
const noImage = imageOf(Buffer.from('no image'));
/** Prices per million tokens: 5 USD for text, 30 USD for images. */
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

test('IMG-1 and BILL-1 a request holds, draws, stores and settles once each, in this order', async () => {
  const wire = new ScriptedImageWire();
  const world = await imageWorld({ wire });
  wire.say(({ n }) => {
    world.calls.push('draw');
    return drawingOf(pictures(n));
  });
  const { made, receipt } = await world.answer({}, { n: 2 });
  expect(world.calls).toEqual(['ledger.hold', 'draw', 'media.put', 'media.put', 'ledger.putRecord', 'ledger.apply']);
  expect(made.images).toHaveLength(2);
  expect(receipt).toEqual({ costPicos: 2n * PER_IMAGE, usage: undefined, balancePicos: START - 2n * PER_IMAGE });
  expect(world.wire.calls).toHaveLength(1);
  expect(await world.charges()).toMatchObject([
    { amountPicos: 2n * PER_IMAGE, model: 'paint-1', usage: { image: 2 }, prices: { image: PER_IMAGE } },
  ]);
});

test('IMG-7 only the delivered images of a partly failed request are charged', async () => {
  const wire = new ScriptedImageWire(() => drawingOf([...pictures(2), lostImage(filtered), noImage]));
  const world = await imageWorld({ wire });
  const { made, receipt } = await world.answer({}, { n: 4 });
  expect([made.images.length, receipt.costPicos]).toEqual([2, 2n * PER_IMAGE]);
  expect(await world.charges()).toHaveLength(1);
});

test('IMG-7 extra images of a provider are not charged', async () => {
  const reported = usage({ input: 10, imageOutput: 900 });
  const wire = new ScriptedImageWire(() => drawingOf(pictures(3), { usage: reported }));
  const world = await imageWorld({ wire, models: [byTokens] });
  const { made, receipt } = await world.answer({}, { n: 2 });
  expect(made.images).toHaveLength(2);
  expect(receipt.costPicos).toBe(10n * 5_000_000n + 600n * 30_000_000n);
  expect(made.usage).toEqual({ ...reported, imageOutput: 600 });
});

test('IMG-7 if the provider sends too few images, the tokens that it counted are charged', async () => {
  const reported = usage({ input: 10, imageOutput: 300 });
  const world = await imageWorld({
    wire: new ScriptedImageWire(() => drawingOf(pictures(1), { usage: reported })),
    models: [byTokens],
  });
  const { made, receipt } = await world.answer({}, { n: 3 });
  expect(receipt.costPicos).toBe(10n * 5_000_000n + 300n * 30_000_000n);
  expect(made.usage).toEqual(reported);
});

test.for([
  ['a rejection by the provider', () => Promise.reject(filtered), 400, 'content_filter', 'succeeded'],
  [
    'a failure of the provider',
    () => Promise.reject(new GatewayError('upstream_error', 'x')),
    502,
    'upstream_error',
    'failed',
  ],
  ['a response without images', () => drawingOf([]), 502, 'upstream_error', 'unknown'],
  ['a response with only a filtered image', () => drawingOf([lostImage(filtered)]), 400, 'content_filter', 'succeeded'],
  ['a response with only an invalid image', () => drawingOf([noImage]), 502, 'upstream_error', 'failed'],
] as const)('BILL-2 %s is not charged', async ([, script, status, code, outcome]) => {
  const world = await imageWorld({ wire: new ScriptedImageWire(script) });
  expect(await world.send('r1', { n: 2 })).toEqual({ status, body: code, replayed: false });
  expect(world.reports).toEqual([`paint-1 ${outcome}`]);
  expect(await world.charges()).toEqual([]);
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n }]);
});

test('BILL-14 images that cannot be stored are 503 and uncharged, and count as provider success', async () => {
  const world = await imageWorld({ fault: (call) => (call === 'media.put' ? fails : undefined) });
  expect(await world.send('r1')).toMatchObject({ status: 503, body: 'service_unavailable' });
  expect(world.reports).toEqual(['paint-1 succeeded']);
  expect(await world.charges()).toEqual([]);
});

test('IMG-7 an image that cannot be stored is not charged, but the stored image is', async () => {
  let puts = 0;
  const world = await imageWorld({
    fault: (call) => {
      if (call !== 'media.put') return undefined;
      puts += 1;
      return puts === 1 ? undefined : fails;
    },
  });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 200 });
  expect(await world.charges()).toMatchObject([{ amountPicos: PER_IMAGE }]);
});

test('BILL-16 a dry run returns the hold of the real request and has no effect', async () => {
  const asked = { n: 3, prompt: 'two cats', quality: 'low', references: byUrl(2) } as const;
  const [dry, wet] = [await imageWorld({ models: [byTokens] }), await imageWorld({ models: [byTokens] })];
  const estimate = await dry.draw({ dryRun: true }, asked);
  if (estimate.kind !== 'dry_run') throw new Error('expected a dry run');
  let held = 0n;
  wet.wire.say(async () => {
    const account = await wet.memory.readAccount('account-1');
    held = [...(account?.holds.values() ?? [])].reduce((sum, hold) => sum + hold.amountPicos, 0n);
    return drawingOf(pictures(3), { usage: usage({ input: 1, imageOutput: 1 }) });
  });
  await wet.answer({}, asked);
  expect(estimate.holdPicos).toBe(held);
  expect(estimate.prices).toEqual(wet.records()[0]?.prices);
  expect([dry.calls, dry.wire.calls, dry.records()]).toEqual([[], [], []]);
});

test('BILL-4 a hold above 100 USD is rejected, and a hold of exactly 100 USD is accepted', async () => {
  const dear = (usd: string) => [paint({ prices: [{ unit: 'image', rates: { perImage: usd } }] })];
  const world = await imageWorld({ models: dear('50.000000000001') });
  await expect(world.draw({}, { n: 2 })).rejects.toMatchObject({ code: 'request_budget_exceeded', param: 'n' });
  await expect(world.draw({ dryRun: true }, { n: 2 })).rejects.toMatchObject({ code: 'request_budget_exceeded' });
  expect([world.calls, world.wire.calls]).toEqual([[], []]);
  const exactly = await imageWorld({ models: dear('50') });
  expect((await exactly.answer({}, { n: 2 })).receipt.costPicos).toBe(parseUsd('100'));
});

test('BILL-1 a balance too low for all n images is 402, and the provider is not called', async () => {
  const world = await imageWorld({ usd: '0.059999999999' });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 402, body: 'insufficient_balance' });
  expect(world.wire.calls).toEqual([]);
  const exactly = await imageWorld({ usd: '0.06' });
  expect(await exactly.send('r1', { n: 2 })).toMatchObject({ status: 200 });
});

test('BILL-7 a count above the hold is charged and flagged, even if the balance becomes negative', async () => {
  const reported = usage({ imageOutput: 800 });
  const wire = new ScriptedImageWire(() => drawingOf(pictures(1), { usage: reported }));
  const world = await imageWorld({ wire, models: [byTokens], usd: '0.01' });
  const { receipt } = await world.answer({}, { quality: 'low' });
  expect(receipt).toMatchObject({ costPicos: parseUsd('0.024'), balancePicos: -parseUsd('0.014') });
  expect(world.notices).toEqual(['overage']);
  expect(await world.charges()).toMatchObject([{ overage: true }]);
});

test('BILL-7 an implausible count is charged at its limit, reported and flagged', async () => {
  const wire = new ScriptedImageWire(() => drawingOf(pictures(1), { usage: usage({ imageOutput: 10 ** 9 }) }));
  const world = await imageWorld({ wire, models: [byTokens] });
  const { receipt } = await world.answer({}, { quality: 'low' });
  expect(receipt.costPicos).toBe(804n * 30_000_000n);
  expect(world.notices).toEqual(['usage_implausible', 'overage']);
  expect(await world.charges()).toMatchObject([{ implausible: true, usage: { imageOutput: 10 ** 9 } }]);
});

test('BILL-3 megapixels are charged as the provider reports them', async () => {
  const rates = { firstMegapixel: '0.03', extraMegapixel: '0.015', referenceMegapixel: '0.015' };
  const reported = { output: 1_500, reference: 250 };
  const wire = new ScriptedImageWire(() => drawingOf(pictures(1), { milliMegapixels: reported }));
  const world = await imageWorld({ wire, models: [paint({ prices: [{ unit: 'megapixel', rates }] })] });
  const { receipt } = await world.answer({}, { size: inPixels(2_048, 2_048), references: byUrl(1) });
  expect(receipt.costPicos).toBe(parseUsd('0.04125'));
  const [record] = await world.charges();
  expect(record && recordedAmount(record)).toBe(receipt.costPicos);
});

test('BILL-10 images priced by token cost nothing without usage, which raises an alarm', async () => {
  const world = await imageWorld({ models: [byTokens] });
  expect((await world.answer()).receipt.costPicos).toBe(0n);
  expect(world.notices).toEqual(['usage_missing']);
  expect(world.reports).toContain('paint-1 without usage');
  expect(await world.charges()).toMatchObject([{ amountPicos: 0n, usage: {}, reason: 'usage_missing' }]);
});

test('GEN-8 model limits are checked before the circuit, and the circuit before the budget', async () => {
  const bar: ReturnType<typeof freePassage>['peek'] = () => ({ kind: 'open', retryAfterSeconds: 7 });
  const circuits = { ...freePassage(), peek: bar };
  const tiered = paint({ prices: [{ unit: 'image', rates: {}, byTier: { '1K': '0.03' } }] });
  const unpriced = await imageWorld({ models: [tiered], circuits });
  await expect(unpriced.draw()).rejects.toMatchObject({ code: 'invalid_size' });
  const wire = new ScriptedImageWire(undefined, new GatewayError('unsupported_parameter', 'not here'));
  const refused = await imageWorld({ wire, circuits });
  await expect(refused.draw()).rejects.toMatchObject({ code: 'unsupported_parameter' });
  const dear = paint({ prices: [{ unit: 'image', rates: { perImage: '200' } }] });
  const rejection = await imageWorld({ models: [dear], circuits });
  await expect(rejection.draw()).rejects.toMatchObject({ status: 503 });
  const away = await imageWorld({ models: [dear], reachable: () => false });
  await expect(away.draw()).rejects.toMatchObject({ code: 'model_unavailable' });
});

test('GEN-5 a request that the wire rejects holds nothing', async () => {
  const wire = new ScriptedImageWire(undefined, new GatewayError('unsupported_parameter', 'not here'));
  const world = await imageWorld({ wire });
  expect(await world.send('r1')).toMatchObject({ status: 400 });
  expect([world.calls, wire.calls]).toEqual([[], []]);
});

test('GEN-5 the provider gets exactly what the client requested', async () => {
  const world = await imageWorld();
  const asked = ask({ n: 3, prompt: 'x', size: inPixels(16, 16), references: byUrl(1), endUser: 'u' });
  await world.answer({ validateFor: () => asked, endUser: 'u' });
  expect(world.wire.calls[0]).toMatchObject({ ...asked, upstream: { model: 'm' }, provider: { id: 'openai' } });
  expect(await world.charges()).toMatchObject([{ endUser: 'u' }]);
});
