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
/** 5 USD per million tokens of text, 30 of images. */
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

test('IMG-1 and BILL-1 hold, draw, store, settle: in this order, each once', async () => {
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

test('IMG-7 of n images that failed in part only those that came are charged', async () => {
  const wire = new ScriptedImageWire(() => drawingOf([...pictures(2), lostImage(filtered), noImage]));
  const world = await imageWorld({ wire });
  const { made, receipt } = await world.answer({}, { n: 4 });
  expect([made.images.length, receipt.costPicos]).toEqual([2, 2n * PER_IMAGE]);
  expect(await world.charges()).toHaveLength(1);
});

test('IMG-7 extra images of a provider are not charged', async () => {
  const told = usage({ input: 10, imageOutput: 900 });
  const wire = new ScriptedImageWire(() => drawingOf(pictures(3), { usage: told }));
  const world = await imageWorld({ wire, models: [byTokens] });
  const { made, receipt } = await world.answer({}, { n: 2 });
  expect(made.images).toHaveLength(2);
  expect(receipt.costPicos).toBe(10n * 5_000_000n + 600n * 30_000_000n);
  expect(made.usage).toEqual({ ...told, imageOutput: 600 });
});

test('IMG-7 a vendor that sends fewer is paid for what it counted', async () => {
  const told = usage({ input: 10, imageOutput: 300 });
  const world = await imageWorld({
    wire: new ScriptedImageWire(() => drawingOf(pictures(1), { usage: told })),
    models: [byTokens],
  });
  const { made, receipt } = await world.answer({}, { n: 3 });
  expect(receipt.costPicos).toBe(10n * 5_000_000n + 300n * 30_000_000n);
  expect(made.usage).toEqual(told);
});

test.for([
  ['the vendor refuses', () => Promise.reject(filtered), 400, 'content_filter', 'succeeded'],
  ['the vendor breaks', () => Promise.reject(new GatewayError('upstream_error', 'x')), 502, 'upstream_error', 'failed'],
  ['it draws nothing', () => drawingOf([]), 502, 'upstream_error', 'failed'],
  ['no image can be had', () => drawingOf([lostImage(filtered)]), 400, 'content_filter', 'succeeded'],
  ['it sends no image', () => drawingOf([noImage]), 502, 'upstream_error', 'failed'],
] as const)('BILL-2 %s: nothing is charged', async ([, script, status, code, told]) => {
  const world = await imageWorld({ wire: new ScriptedImageWire(script) });
  expect(await world.send('r1', { n: 2 })).toEqual({ status, body: code, replayed: false });
  expect(world.reports).toEqual([`paint-1 ${told}`]);
  expect(await world.charges()).toEqual([]);
  expect(world.records()).toMatchObject([{ outcome: 'released', amountPicos: 0n }]);
});

test('BILL-14 images that cannot be stored: 503, nothing charged, and the vendor is not to blame', async () => {
  const world = await imageWorld({ fault: (call) => (call === 'media.put' ? fails : undefined) });
  expect(await world.send('r1')).toMatchObject({ status: 503, body: 'service_unavailable' });
  expect(world.reports).toEqual(['paint-1 succeeded']);
  expect(await world.charges()).toEqual([]);
});

test('IMG-7 of two images one that cannot be stored is not charged', async () => {
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

test('BILL-16 a dry run tells exactly what would be reserved, and does nothing', async () => {
  const asked = { n: 3, prompt: 'two cats', quality: 'low', references: byUrl(2) } as const;
  const [dry, wet] = [await imageWorld({ models: [byTokens] }), await imageWorld({ models: [byTokens] })];
  const told = await dry.draw({ dryRun: true }, asked);
  if (told.kind !== 'dry_run') throw new Error('a dry run was asked for');
  let held = 0n;
  wet.wire.say(async () => {
    const account = await wet.memory.readAccount('account-1');
    held = [...(account?.holds.values() ?? [])].reduce((sum, hold) => sum + hold.amountPicos, 0n);
    return drawingOf(pictures(3), { usage: usage({ input: 1, imageOutput: 1 }) });
  });
  await wet.answer({}, asked);
  expect(told.holdPicos).toBe(held);
  expect(told.prices).toEqual(wet.records()[0]?.prices);
  expect([dry.calls, dry.wire.calls, dry.records()]).toEqual([[], [], []]);
});

test('BILL-4 more than 100 USD is refused before anything is held, and exactly 100 is not', async () => {
  const dear = (usd: string) => [paint({ prices: [{ unit: 'image', rates: { perImage: usd } }] })];
  const world = await imageWorld({ models: dear('50.000000000001') });
  await expect(world.draw({}, { n: 2 })).rejects.toMatchObject({ code: 'request_budget_exceeded', param: 'n' });
  await expect(world.draw({ dryRun: true }, { n: 2 })).rejects.toMatchObject({ code: 'request_budget_exceeded' });
  expect([world.calls, world.wire.calls]).toEqual([[], []]);
  const exactly = await imageWorld({ models: dear('50') });
  expect((await exactly.answer({}, { n: 2 })).receipt.costPicos).toBe(parseUsd('100'));
});

test('BILL-1 without the money for all n nothing is asked of the vendor', async () => {
  const world = await imageWorld({ usd: '0.059999999999' });
  expect(await world.send('r1', { n: 2 })).toMatchObject({ status: 402, body: 'insufficient_balance' });
  expect(world.wire.calls).toEqual([]);
  const exactly = await imageWorld({ usd: '0.06' });
  expect(await exactly.send('r1', { n: 2 })).toMatchObject({ status: 200 });
});

test('BILL-7 a count above the hold is charged as reported, into the red, and flagged', async () => {
  const told = usage({ imageOutput: 800 });
  const wire = new ScriptedImageWire(() => drawingOf(pictures(1), { usage: told }));
  const world = await imageWorld({ wire, models: [byTokens], usd: '0.01' });
  const { receipt } = await world.answer({}, { quality: 'low' });
  expect(receipt).toMatchObject({ costPicos: parseUsd('0.024'), balancePicos: -parseUsd('0.014') });
  expect(world.notices).toEqual(['overage']);
  expect(await world.charges()).toMatchObject([{ overage: true }]);
});

test('BILL-7 a count that cannot be true is charged at its bound, alarmed and listed', async () => {
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

test('BILL-10 images by the token without usage cost no tokens, and are an alarm', async () => {
  const world = await imageWorld({ models: [byTokens] });
  expect((await world.answer()).receipt.costPicos).toBe(0n);
  expect(world.notices).toEqual(['usage_missing']);
  expect(world.reports).toContain('paint-1 without usage');
  expect(await world.charges()).toMatchObject([{ amountPicos: 0n, usage: {} }]);
});

test('GEN-8 what a model cannot do comes before the circuit, the circuit before the budget', async () => {
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

test('GEN-5 a refusal of the wire holds nothing', async () => {
  const wire = new ScriptedImageWire(undefined, new GatewayError('unsupported_parameter', 'not here'));
  const world = await imageWorld({ wire });
  expect(await world.send('r1')).toMatchObject({ status: 400 });
  expect([world.calls, wire.calls]).toEqual([[], []]);
});

test('GEN-5 the vendor is asked for exactly what the client asked for', async () => {
  const world = await imageWorld();
  const asked = ask({ n: 3, prompt: 'x', size: inPixels(16, 16), references: byUrl(1), endUser: 'u' });
  await world.answer({ validateFor: () => asked, endUser: 'u' });
  expect(world.wire.calls[0]).toMatchObject({ ...asked, upstream: { model: 'm' }, provider: { id: 'openai' } });
  expect(await world.charges()).toMatchObject([{ endUser: 'u' }]);
});
