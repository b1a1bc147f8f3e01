import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseSize, type RequestedSize } from '../../../../lambdas/core/images/choose-size.ts';
import type { ChosenSize, Dimensions } from '../../../../lambdas/core/images/image-wire.ts';
import { misfitOf, nearestWithin } from '../../../../lambdas/core/images/size-rules.ts';
import { randomRuns } from '../../../support/random-runs.ts';
import { imageModel, imageModels, refusalOf } from './image-models.ts';

const runs = randomRuns(import.meta.filename, { quick: 300, long: 20_000 });

const none: RequestedSize = {
  size: undefined,
  width: undefined,
  height: undefined,
  aspectRatio: undefined,
  hasReferences: false,
};

const chosen = (id: string, wish: Partial<RequestedSize> = {}): ChosenSize =>
  chooseSize(imageModel(id), { ...none, ...wish });
const refused = (id: string, wish: Partial<RequestedSize>) => refusalOf(() => chosen(id, wish));

const pixels = (asked: string, width: number, height: number) => ({ kind: 'pixels', width, height, asked });
const vendor = (pixelsMax: number) => ({ kind: 'vendor', pixelsMax });

/** Expected sizes, written by hand from the catalog. Each size rule of a model family has a row. */
const accepted: readonly (readonly [id: string, wish: Partial<RequestedSize>, expected: object])[] = [
  ['gpt-image-2', {}, vendor(1_572_864)],
  ['gpt-image-2', { size: 'auto' }, vendor(1_572_864)],
  ['gpt-image-2', { size: '3840x2160' }, pixels('3840x2160', 3840, 2160)],
  ['gpt-image-2', { size: '1024x640' }, pixels('1024x640', 1024, 640)],
  ['gpt-image-2', { size: '1920x1080' }, pixels('1920x1080', 1920, 1088)],
  ['gpt-image-2', { size: '1000x1000' }, pixels('1000x1000', 1008, 1008)],
  ['gpt-image-2', { size: '800x600' }, pixels('800x600', 944, 704)],
  ['gpt-image-2.6-flare', { size: '3601x2303' }, pixels('3601x2303', 3600, 2304)],
  ['gpt-image-2.6-sunburst', { size: '3000x500' }, pixels('3000x500', 3008, 1008)],
  ['gpt-image-2', { size: '16x3840' }, pixels('16x3840', 1280, 3840)],
  ['gpt-image-2.6-sunburst', { size: '1024x1024' }, pixels('1024x1024', 1024, 1024)],
  ['gpt-image-2.6-flare', {}, vendor(1_572_864)],
  ['gpt-image-1-mini', {}, vendor(1_572_864)],
  ['gpt-image-1-mini', { size: 'auto' }, vendor(1_572_864)],
  ['gpt-image-1-mini', { size: '1536x1024' }, pixels('1536x1024', 1536, 1024)],
  ['gpt-image-2-fixed', {}, { ...pixels('1280x1280', 1280, 1280), tier: '1K' }],
  ['gpt-image-2-prompt', {}, vendor(1_572_864)],
  ['gpt-image-2-prompt', { size: '3840x2160' }, vendor(1_572_864)],
  ['gemini-3-pro-image', {}, { kind: 'tier', tier: '1K' }],
  ['gemini-3-pro-image', { size: 'auto' }, { kind: 'tier', tier: '1K' }],
  ['gemini-3-pro-image', { size: '4K' }, { kind: 'tier', tier: '4K' }],
  ['gemini-nano-banana-2.1', { size: '1536x864' }, { kind: 'tier', tier: '1K', aspectRatio: '16:9' }],
  ['gemini-nano-banana-2.1', { size: '864x1537' }, { kind: 'tier', tier: '2K', aspectRatio: '9:16' }],
  ['gemini-nano-banana-2.1', { size: '2561x1920' }, { kind: 'tier', tier: '4K', aspectRatio: '4:3' }],
  ['gemini-nano-banana-2.1', { size: '4096x1755' }, { kind: 'tier', tier: '4K', aspectRatio: '21:9' }],
  ['gemini-3.1-flash-lite-image', {}, { kind: 'tier', tier: '1K' }],
  ['gemini-2.5-flash-image', {}, { kind: 'tier', tier: '1K' }],
  ['seedream-4-0', {}, pixels('2048x2048', 2048, 2048)],
  ['seedream-4-0', { size: '4096x4096' }, pixels('4096x4096', 4096, 4096)],
  ['seedream-4-0', { size: '4096x256' }, pixels('4096x256', 4096, 256)],
  ['seedream-4-5', { size: '2560x1440' }, pixels('2560x1440', 2560, 1440)],
  ['seedream-5-5', { size: '1.5K' }, { kind: 'tier', tier: '1.5K' }],
  ['flux-2-pro', {}, pixels('1024x1024', 1024, 1024)],
  ['flux-2-pro', { hasReferences: true }, vendor(4_194_304)],
  ['flux-2-max', { size: '2048x2048' }, pixels('2048x2048', 2048, 2048)],
  ['flux-2-flex', { width: 256, height: 2048 }, pixels('256x2048', 256, 2048)],
  ['flux-2-pro', { size: '2560x1440' }, pixels('2560x1440', 2560, 1440)],
  ['flux-2-pro', { width: 4096, height: 1024 }, pixels('4096x1024', 4096, 1024)],
  ['flux-2-pro', { size: '64x65536' }, pixels('64x65536', 64, 65_536)],
  ['flux-2-klein-9b', { aspectRatio: '16:9' }, pixels('1280x720', 1280, 720)],
  ['flux-2-pro', { aspectRatio: '1:1', hasReferences: true }, pixels('1024x1024', 1024, 1024)],
  ['flux-2-pro', { aspectRatio: '239:100' }, pixels('1584x656', 1584, 656)],
  ['flux-2-pro', { aspectRatio: '21:9' }, pixels('1456x624', 1456, 624)],
  ['flux-2-pro', { aspectRatio: '1:9' }, pixels('336x3024', 336, 3024)],
  ['flux-2-pro', { aspectRatio: '256:1' }, pixels('16384x64', 16_384, 64)],
];

test.for(accepted)('IMG-2 %s accepts %o', ([id, wish, expected]) => {
  expect(chosen(id, wish)).toEqual(expected);
});

test('IMG-2 every image model of the catalog has a row above', () => {
  const asked = new Set(accepted.map(([id]) => id));
  // Has the same size rule as seedream-4-5.
  asked.add('seedream-5-0-lite');
  expect(imageModels.filter(({ id }) => !asked.has(id))).toEqual([]);
});

/** Each row ends with the part of the message that the client needs to correct the request. */
const refusedSizes: readonly (readonly [id: string, wish: Partial<RequestedSize>, param: string, part: string])[] = [
  ['gpt-image-2', { size: '15x1024' }, 'size', 'The nearest is 16x1024.'],
  ['gpt-image-2', { size: '4096x2160' }, 'size', 'at most 3840'],
  ['gpt-image-2', { size: '3840x2176' }, 'size', 'at most 8294400 pixels'],
  ['gpt-image-2', { size: '1024X1024' }, 'size', 'The nearest is 1024x1024.'],
  ['gpt-image-2', { size: '' }, 'size', '<width>x<height>'],
  ['gpt-image-1-mini', { size: '1024x1792' }, 'size', 'one of auto, 1024x1024, 1024x1536, 1536x1024'],
  ['gpt-image-2-fixed', { size: 'auto' }, 'size', '1280x1280, 1280x720'],
  ['gpt-image-2-fixed', { size: '1024x1024' }, 'size', 'The nearest is 1280x1024.'],
  ['gemini-3-pro-image', { size: '1k' }, 'size', 'The nearest is 1K.'],
  ['gemini-3-pro-image', { size: '8K' }, 'size', 'one of 1K, 2K, 4K'],
  ['gemini-3-pro-image', { size: '1.5K' }, 'size', 'one of 1K, 2K, 4K'],
  ['gemini-3-pro-image', { size: '4097x4096' }, 'size', 'The nearest is 4K.'],
  ['gemini-3-pro-image', { size: '4096x1024' }, 'size', 'the longer at most 3 times the shorter'],
  ['gemini-3.1-flash-lite-image', { size: '1K' }, 'size', 'must be absent'],
  ['gemini-3.1-flash-lite-image', { size: 'auto' }, 'size', 'always 1K'],
  ['seedream-4-0', { size: '1279x720' }, 'size', 'The nearest is 1280x720.'],
  ['seedream-4-0', { size: '4096x255' }, 'size', 'at most 16 times the shorter'],
  ['seedream-4-0', { size: '2K' }, 'size', 'The nearest is 2048x2048.'],
  ['seedream-4-5', { size: '1280x720' }, 'size', '3686400 to 16777216 pixels'],
  ['seedream-5-5', { size: '2151x2150' }, 'size', 'an area of 921600 to 4624220 pixels'],
  ['seedream-5-5', { size: '2160x2160' }, 'size', 'The nearest is 2150x2150.'],
  ['seedream-5-5', { size: '4K' }, 'size', '1K or 1.5K or 2K or <width>x<height>'],
  ['flux-2-pro', { size: 'auto' }, 'size', 'at most 4194304 pixels'],
  ['flux-2-pro', { size: '2064x2048' }, 'size', 'The nearest is 2048x2048.'],
  ['flux-2-pro', { size: '48x48' }, 'size', 'The nearest is 64x64.'],
  ['flux-2-pro', { width: 1000, height: 1024 }, 'width', 'The nearest is 1008x1024.'],
  ['flux-2-pro', { width: 1024, height: 4112 }, 'width', 'The nearest is 1024x4096.'],
  ['flux-2-pro', { aspectRatio: '999:1' }, 'aspect_ratio', 'from 1:256 to 256:1'],
  ['flux-2-pro', { aspectRatio: '16x9' }, 'aspect_ratio', 'such as 16:9'],
  ['flux-2-pro', { aspectRatio: '1:1:1' }, 'aspect_ratio', 'such as 16:9'],
];

test.for(refusedSizes)('IMG-2 %s rejects %o', ([id, wish, param, part]) => {
  const refusal = refused(id, wish);
  expect(refusal).toMatchObject({ code: 'invalid_size', status: 400, param });
  expect(refusal.message).toContain(part);
  expect(refusal.message).toMatch(new RegExp(`^${param}: .*${id}`));
});

/** Sizes at, next to and beyond the areas that seedream-5-5 allows, 921,600 to 4,624,220 pixels. */
const sizesAtBounds: readonly (readonly [size: string, nearest: string | undefined])[] = [
  ['1132x4085', undefined],
  ['2830x1634', undefined],
  ['1879x2461', undefined],
  ['2150x2150', undefined],
  ['960x960', undefined],
  ['2150x2151', '2150x2150'],
  ['1133x4085', '1132x4085'],
  ['2200x2102', '2199x2102'],
  ['4096x1129', '4095x1129'],
  ['3000x2000', '2794x1655'],
  ['960x959', '960x960'],
  ['100x100', '960x960'],
  ['5000x400', '4096x400'],
];

test.for(sizesAtBounds)('IMG-2 seedream-5-5 at %s suggests %s', ([size, nearest]) => {
  if (nearest === undefined) {
    expect(chosen('seedream-5-5', { size })).toMatchObject({ kind: 'pixels', asked: size });
    return;
  }
  expect(refused('seedream-5-5', { size }).message).toContain(`The nearest is ${nearest}.`);
});

const wrongFields: readonly (readonly [id: string, wish: Partial<RequestedSize>, param: string, part: string])[] = [
  ['flux-2-pro', { size: '1024x1024', width: 1024, height: 1024 }, 'size', 'combined with width and height'],
  ['flux-2-pro', { size: '1024x1024', aspectRatio: '1:1' }, 'aspect_ratio', 'combined with size'],
  ['flux-2-pro', { width: 1024, height: 1024, aspectRatio: '1:1' }, 'aspect_ratio', 'combined with width and height'],
  ['flux-2-pro', { width: 1024 }, 'height', 'Send width and height together'],
  ['flux-2-pro', { height: 1024 }, 'width', 'Send width and height together'],
  ['gpt-image-2', { width: 1024, height: 1024 }, 'width', 'Use size.'],
  ['gpt-image-2-fixed', { aspectRatio: '1:1' }, 'aspect_ratio', 'Use size.'],
  ['gpt-image-2-prompt', { width: 1024 }, 'width', 'Describe the size in the prompt.'],
  ['gemini-3.1-flash-lite-image', { aspectRatio: '1:1' }, 'aspect_ratio', 'one size'],
];

test.for(wrongFields)('IMG-2 %s rejects the fields of %o', ([id, wish, param, part]) => {
  const refusal = refused(id, wish);
  expect(refusal).toMatchObject({ code: 'invalid_request_error', param });
  expect(refusal.message).toContain(part);
});

const wishes = fc.record({
  size: fc.option(
    fc.oneof(
      fc.string(),
      fc.constantFrom('auto', '1K', '1.5K', '2K', '4K', 'Infinityx1', '1e3x1e3', '99999x99999', '00016x16'),
      fc.tuple(fc.nat(5_000), fc.nat(5_000)).map(([width, height]) => `${width}x${height}`),
      fc.tuple(fc.nat(300), fc.nat(300)).map(([width, height]) => `${width * 16}x${height * 16}`),
    ),
    { nil: undefined },
  ),
  width: fc.option(fc.integer({ min: 1 }), { nil: undefined, freq: 2 }),
  height: fc.option(fc.integer({ min: 1 }), { nil: undefined, freq: 2 }),
  aspectRatio: fc.option(
    fc.oneof(
      fc.string(),
      fc.tuple(fc.nat(10_000), fc.nat(10_000)).map(([one, other]) => `${one}:${other}`),
    ),
    { nil: undefined, freq: 2 },
  ),
  hasReferences: fc.boolean(),
});

test('IMG-2 a chosen size is within the bounds of the entry, or the error names the field', () => {
  fc.assert(
    fc.property(fc.constantFrom(...imageModels), wishes, (model, wish) => {
      const outcome = (() => {
        try {
          return chooseSize(model, wish);
        } catch (error) {
          return refusalOf(() => {
            throw error;
          });
        }
      })();
      if ('code' in outcome) {
        expect(outcome.param).toMatch(/^(size|width|height|aspect_ratio)$/);
        return;
      }
      const rule = model.image.size;
      if (outcome.kind !== 'pixels' || !('maxPixels' in rule)) return;
      const { width, height } = outcome;
      expect(width * height).toBeLessThanOrEqual(rule.maxPixels ?? 4_096 ** 2);
      expect(width * height).toBeGreaterThanOrEqual(rule.minPixels ?? 1);
      if (rule.mode === 'free') expect([width % rule.multipleOf, height % rule.multipleOf]).toEqual([0, 0]);
    }),
    runs,
  );
});

test('IMG-9 every size up to the largest edge and area is made from one that the provider generates', () => {
  const edge = fc.integer({ min: 16, max: 3_840 });
  fc.assert(
    fc.property(edge, edge, (width, height) => {
      fc.pre(width * height <= 8_294_400);
      const size = chosen('gpt-image-2', { size: `${width}x${height}` });
      if (size.kind !== 'pixels') throw new Error('not in pixels');
      // https://github.com/openai/openai-node/blob/master/src/resources/images.ts, `size`, of the package openai 7.55.0
      const edges = [size.width, size.height];
      expect(edges.map((each) => each % 16)).toEqual([0, 0]);
      expect(Math.max(...edges)).toBeLessThanOrEqual(3_840);
      expect(Math.max(...edges) / Math.min(...edges)).toBeLessThanOrEqual(3);
      expect(size.width * size.height).toBeLessThanOrEqual(8_294_400);
      expect(size.width * size.height).toBeGreaterThanOrEqual(655_360);
      // A shape that the provider generates loses at most a rounding difference on each edge.
      const kept = Math.min(size.width, (size.height * width) / height) / size.width;
      const keptHeight = Math.min(size.height, (size.width * height) / width) / size.height;
      if (Math.max(width / height, height / width) <= 3) expect(Math.min(kept, keptHeight)).toBeGreaterThan(0.95);
    }),
    runs,
  );
});

test('IMG-2 no allowed size is nearer than the suggested one', () => {
  const edge = fc.integer({ min: 1, max: 90 });
  const bounds = fc
    .record({
      multipleOf: fc.constantFrom(1, 4, 7),
      minEdge: fc.integer({ min: 1, max: 20 }),
      maxEdge: fc.integer({ min: 30, max: 64 }),
      minPixels: fc.integer({ min: 1, max: 900 }),
      maxPixels: fc.integer({ min: 900, max: 3_000 }),
      maxRatio: fc.constantFrom(2, 3, Number.POSITIVE_INFINITY),
    })
    .filter((each) => each.minEdge <= each.maxEdge);
  fc.assert(
    fc.property(bounds, edge, edge, (within, width, height) => {
      const distance = (size: Dimensions) => (size.width - width) ** 2 + (size.height - height) ** 2;
      const allowed = Array.from({ length: 64 * 64 }, (_, index) => ({
        width: Math.floor(index / 64) + 1,
        height: (index % 64) + 1,
      })).filter((size) => misfitOf(size, within) === undefined);
      const suggested = nearestWithin({ width, height }, within);
      expect(suggested === undefined).toBe(allowed.length === 0);
      if (suggested) expect(distance(suggested)).toBe(Math.min(...allowed.map(distance)));
    }),
    runs,
  );
});

test('GEN-4 the nearest size that an error suggests is accepted', () => {
  fc.assert(
    fc.property(fc.constantFrom(...imageModels), fc.nat(6_000), fc.nat(6_000), (model, width, height) => {
      const ask = (size: string) => () => chooseSize(model, { ...none, size });
      const accepts = (size: string): boolean => {
        try {
          ask(size)();
          return true;
        } catch {
          return false;
        }
      };
      const size = `${width}x${height}`;
      if (accepts(size) || model.image.size.mode === 'forbidden') return;
      const [, nearest = 'none'] = /The nearest is ([\w.]+)\.$/.exec(refusalOf(ask(size)).message) ?? [];
      expect(nearest).not.toBe('none');
      expect(ask(nearest)()).toBeDefined();
    }),
    runs,
  );
});
