import { expect, test } from 'vitest';
import type { VideoModel } from '../../../../lambdas/core/catalog/schema.ts';
import { formatUsd, parseUsd } from '../../../../lambdas/core/money/usd.ts';
import { chargeForVideo, priceVideo } from '../../../../lambdas/core/videos/video-price.ts';
import { bySeconds, byTokens, catalogOf, jobOf, NOW, videoModel } from './video-samples.ts';

const rowOf = (entry: Parameters<typeof videoModel>[0]): readonly [VideoModel['prices'][number], VideoModel] => {
  const model = videoModel(entry);
  return [catalogOf(entry).priceRow(model, NOW), model];
};

// Token counts, computed by hand: width and height, each rounded up to a multiple of 32, times 24 frames per second and
// one more frame, divided by 1,024.
test.for([
  // 1280 x 736 x 97 / 1024 = 89,240
  ['4 s in HD', { seconds: 4, width: 1280, height: 720 }, 89_240, '0.62468'],
  // 1280 x 736 x 193 / 1024 = 177,560
  ['8 s in HD', { seconds: 8, width: 1280, height: 720 }, 177_560, '1.24292'],
  // 1920 x 1088 x 289 / 1024 = 589,560, at the rate of full HD
  ['12 s in full HD', { seconds: 12, width: 1920, height: 1080 }, 589_560, '4.539612'],
  ['12 s in full HD, portrait', { seconds: 12, width: 1080, height: 1920 }, 589_560, '4.539612'],
] as const)('VID-6 the hold covers the highest count of the provider: %s', ([, asked, tokens, usd]) => {
  const { holdPicos, terms } = priceVideo(...rowOf(byTokens()), asked);
  expect(formatUsd(holdPicos)).toBe(usd);
  expect(terms).toEqual({ unit: 'token', ratePicos: holdPicos / BigInt(tokens), unitsMax: 2 * tokens });
});

test('VID-6 a model with one rate has that rate in full HD as well', () => {
  const entry = byTokens({ prices: [{ unit: '1M_tokens', rates: { output: '7' } }] });
  const { terms } = priceVideo(...rowOf(entry), { seconds: 4, width: 1920, height: 1080 });
  expect(terms.ratePicos).toBe(7_000_000n);
});

test('VID-6 a fraction of a token is held as a whole token', () => {
  const entry = byTokens({
    video: { ...videoModel(byTokens()).video, tokens: { framesPerSecond: 24, divisor: 1_000 } },
  });
  // 91,381,760 / 1,000 = 91,381.76
  expect(priceVideo(...rowOf(entry), { seconds: 4, width: 1280, height: 720 }).terms.unitsMax).toBe(2 * 91_382);
});

test.for([
  [4, 1280, 720, '0.4'],
  [12, 1920, 1080, '3'],
] as const)('VID-6 %i s of %ix%i are charged by second at the rate of the size', ([seconds, width, height, usd]) => {
  const { holdPicos, terms } = priceVideo(...rowOf(bySeconds()), { seconds, width, height });
  expect(formatUsd(holdPicos)).toBe(usd);
  const charge = chargeForVideo({ terms, seconds, tokens: 1 });
  expect(charge).toEqual({
    amountPicos: holdPicos,
    prices: { second: terms.ratePicos },
    usage: { second: seconds },
    implausible: false,
  });
});

test('VID-6 a single rate applies to all sizes', () => {
  const entry = bySeconds({ prices: [{ unit: 'second', rates: { perSecond: '0.15' } }] });
  expect(priceVideo(...rowOf(entry), { seconds: 8, width: 1280, height: 720 }).holdPicos).toBe(parseUsd('1.2'));
});

test('VID-6 a size without a price is a catalog error and never a free video', () => {
  expect(() => priceVideo(...rowOf(bySeconds()), { seconds: 4, width: 640, height: 480 })).toThrow(
    'no price for 640x480',
  );
});

test.for([
  ['below its bound', 12, { amountPicos: parseUsd('12'), usage: { output: 12 }, implausible: false }],
  ['at its bound', 20, { amountPicos: parseUsd('20'), usage: { output: 20 }, implausible: false }],
  ['zero', 0, { amountPicos: 0n, usage: { output: 0 }, implausible: false }],
] as const)("VID-6 a video is charged by the provider's token count: %s", ([, tokens, expected]) => {
  expect(chargeForVideo(jobOf({ tokens }))).toEqual({ prices: { output: parseUsd('1') }, ...expected });
});

test('BILL-10 a video without a token count costs no tokens', () => {
  expect(chargeForVideo(jobOf())).toEqual({
    amountPicos: 0n,
    prices: { output: parseUsd('1') },
    usage: {},
    implausible: false,
  });
});

test('BILL-7 an implausible count is charged at its bound', () => {
  expect(chargeForVideo(jobOf({ tokens: 21 }))).toEqual({
    amountPicos: parseUsd('20'),
    prices: { output: parseUsd('1') },
    usage: { output: 21 },
    implausible: true,
  });
});
