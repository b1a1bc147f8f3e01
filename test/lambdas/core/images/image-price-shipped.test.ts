import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import { chooseSize, type RequestedSize } from '../../../../lambdas/core/images/choose-size.ts';
import { type DrawnCounts, type ImageMoney, priceImages } from '../../../../lambdas/core/images/image-price.ts';
import type { ImageAsk, ImageReference } from '../../../../lambdas/core/images/image-wire.ts';
import { pixelsOf } from '../../../../lambdas/core/images/size-rules.ts';
import { auditAccount, recordedAmount } from '../../../../lambdas/core/ledger/audit.ts';
import { PICOS_PER_USD, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';
import { MemoryLedgerStore } from '../../../support/memory/memory-ledger-store.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { ask, counts, NOW, priceOf, recordOf, shipped, shippedImages, usage } from './image-samples.ts';

const runs = randomRuns(import.meta.filename, { quick: 30, long: 1_000 });
const models = shippedImages();

/** Returns values of the size field, most of which the catalog entry allows. */
const sizesOf = ({ image: { size } }: ImageModel): readonly (string | undefined)[] => {
  switch (size.mode) {
    case 'enum':
      return [undefined, ...size.values];
    case 'enum_by_tier':
      return [undefined, ...Object.values(size.tiers).flatMap((listed = []) => listed)];
    case 'tiers':
      return [undefined, ...size.tiers, '1024x1024', '1920x1080', '4096x2304'];
    case 'pixels':
      return [undefined, ...size.tiers, '2560x1440', '1280x720', '4096x4096', '2048x2048'];
    case 'free':
      return [undefined, 'auto', '1024x1024', '1536x1024', '2048x2048', '3840x2160', '1024x640', '256x256'];
    default:
      return [undefined];
  }
};

const chosenOf = (model: ImageModel, wish: RequestedSize): ImageAsk['size'] | undefined => {
  try {
    return chooseSize(model, wish);
  } catch {
    return undefined;
  }
};

const allowedSizes = (model: ImageModel): readonly ImageAsk['size'][] =>
  sizesOf(model).flatMap((size) => {
    const wish = { size, width: undefined, height: undefined, aspectRatio: undefined, hasReferences: false };
    return chosenOf(model, wish) ?? [];
  });

const references = (most: number): fc.Arbitrary<readonly ImageReference[]> =>
  fc.array(
    fc.oneof(
      fc.constant<ImageReference>({ kind: 'url', url: 'https://example.com/a.png', param: 'image' }),
      fc.record({ width: fc.integer({ min: 1, max: 9_000 }), height: fc.integer({ min: 1, max: 9_000 }) }).map(
        (size): ImageReference => ({
          kind: 'file',
          file: { ...size, mediaType: 'image/png', bytes: new Uint8Array() },
          param: 'image',
        }),
      ),
    ),
    { maxLength: most },
  );

const asks = (model: ImageModel): fc.Arbitrary<ImageAsk> =>
  fc
    .record({
      n: fc.integer({ min: 1, max: model.image.nMax }),
      size: fc.constantFrom(...allowedSizes(model)),
      quality: fc.constantFrom(undefined, ...model.capabilities.quality),
      references: references(model.image.references.max),
      prompt: fc.string({ maxLength: 200, unit: 'grapheme' }),
    })
    .map(ask);

const share = fc.double({ min: 0, max: 1, noNaN: true });
const few = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: 100_000 }));
/**
 * Counts that a provider may report. `output` is a share of the requested size, and `reference` is a share of 4.194
 * megapixels per reference.
 */
const outcomes = fc.record({
  more: fc.nat({ max: 2 }),
  output: share,
  reference: share,
  tells: fc.boolean(),
  tokens: fc.record({
    input: fc.nat({ max: 250 }),
    cacheRead: few,
    cacheWrite: fc.constant(0),
    cacheWrite1h: fc.constant(0),
    imageInput: few,
    cachedImageInput: few,
    output: few,
    reasoning: few,
    imageOutput: few,
  }),
});
type Happening = typeof outcomes extends fc.Arbitrary<infer Found> ? Found : never;

const countsOf = (asked: ImageAsk, happening: Happening, delivered: number): DrawnCounts => {
  const pixels = pixelsOf(asked.size);
  const made = asked.n + happening.more;
  return {
    delivered,
    made,
    usage: happening.tells ? happening.tokens : undefined,
    milliMegapixels: happening.tells
      ? {
          output: Math.floor((pixels / 1_000) * happening.output) * made,
          reference: Math.floor(asked.references.length * 4_194 * happening.reference),
        }
      : undefined,
    pixels: Array.from({ length: delivered }, () => pixels),
  };
};

const moneyOf = (model: ImageModel, asked: ImageAsk): ImageMoney =>
  priceImages(shipped.priceRow(model, NOW), model, asked);

describe.each(models)('$id', (model) => {
  test('IMG-8 every allowed size has a price above 0 and within the budget', () => {
    const sizes = allowedSizes(model);
    expect(sizes.length).toBeGreaterThan(0);
    for (const size of sizes) {
      const { holdPicos } = moneyOf(model, ask({ size, n: model.image.nMax }));
      expect(holdPicos).toBeGreaterThan(0n);
      expect(holdPicos).toBeLessThan(100n * PICOS_PER_USD);
    }
  });

  test('BILL-3 a charge is not negative, equals the amount of its record and passes the audit', async () => {
    await fc.assert(
      fc.asyncProperty(asks(model), outcomes, async (asked, happening) => {
        const charge = moneyOf(model, asked).chargeFor(countsOf(asked, happening, asked.n));
        expect(charge.amountPicos).toBeGreaterThanOrEqual(0n);
        const record = recordOf(charge);
        expect(recordedAmount(record)).toBe(charge.implausible ? undefined : charge.amountPicos);
        const memory = new MemoryLedgerStore();
        await memory.createAccount('account-1', 0);
        await memory.credit({ accountId: 'account-1', ref: 'a', amountPicos: parseUsd('100'), reason: 'b', at: NOW });
        await memory.hold({
          ...{ accountId: 'account-1', holdId: 'request-1.0', amountPicos: 1n, expiresAtMs: NOW },
          ...{ previousHoldId: undefined, sweepAtMs: NOW },
        });
        await memory.putRecord(record);
        await memory.apply(record, 1n, 0);
        const audit = await auditAccount({ store: memory, records: memory, clock: new ManualClock(NOW) }, 'account-1');
        expect(audit).toMatchObject({ findings: [], openHolds: 0, records: 1 });
      }),
      runs,
    );
  });

  test('IMG-7 fewer delivered images never cost more', () => {
    fc.assert(
      fc.property(asks(model), outcomes, (asked, happening) => {
        const money = moneyOf(model, asked);
        const charges = Array.from(
          { length: asked.n },
          (_, index) => money.chargeFor(countsOf(asked, happening, index + 1)).amountPicos,
        );
        expect(charges).toEqual(charges.toSorted((one, other) => (one < other ? -1 : Number(one > other))));
      }),
      runs,
    );
  });

  test('BILL-5 the hold covers every count within the rules of the provider', () => {
    fc.assert(
      fc.property(asks(model), outcomes, (asked, happening) => {
        const money = moneyOf(model, asked);
        const tokens = usage({ input: Buffer.byteLength(asked.prompt), output: 0 });
        const came = countsOf(asked, { ...happening, more: 0 }, asked.n);
        const { amountPicos, implausible } = money.chargeFor({ ...came, usage: tokens });
        expect(amountPicos).toBeLessThanOrEqual(money.holdPicos);
        expect(implausible).toBe(false);
      }),
      runs,
    );
  });

  test('BILL-10 a count of 0 costs nothing if the price is by token', () => {
    const money = priceOf(model, { size: allowedSizes(model)[0] ?? ask().size });
    const { amountPicos } = money.chargeFor(counts({ usage: usage(), pixels: [1] }));
    expect(amountPicos > 0n).toBe(model.prices[0]?.unit !== '1M_tokens');
  });
});
