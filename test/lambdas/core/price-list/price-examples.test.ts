import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { formatUsd } from '../../../../lambdas/core/money/usd.ts';
import { priceExamples } from '../../../../lambdas/core/price-list/price-examples.ts';

const catalog = loadCatalog(catalogData);
const NOW = Date.UTC(2026, 10, 20);

const examplesOf = (id: string) => {
  const model = catalog.find(id, NOW);
  if (!model) throw new Error(`no ${id}`);
  return priceExamples(model, catalog.priceRow(model, NOW)).map(({ picos, ...example }) => ({
    ...example,
    usd: formatUsd(picos),
  }));
};

const image = (size: string | null, quality: string | null, usd: string) => ({ size, quality, seconds: null, usd });

test('CAT-2 an image by tokens has an example for each size and quality, and the highest without one', () => {
  expect(examplesOf('gpt-image-2').slice(0, 5)).toEqual([
    image('1024x1024', null, '0.211'),
    image('1024x1024', 'low', '0.006'),
    image('1024x1024', 'medium', '0.053'),
    image('1024x1024', 'high', '0.211'),
    image('1024x1536', null, '0.165'),
  ]);
});

test.each([
  ['gemini-3-pro-image', [image('1K', null, '0.1344'), image('2K', null, '0.1344'), image('4K', null, '0.24')]],
  ['gemini-3.1-flash-lite-image', [image(null, null, '0.0336')]],
  [
    'gpt-image-2-fixed',
    [image('1280x1280', null, '0.03'), image('2048x2048', null, '0.09'), image('2880x2880', null, '0.24')],
  ],
  ['gpt-image-2-prompt', [image(null, null, '0.03')]],
  ['seedream-5-5', [image('1K', null, '0.02'), image('1.5K', null, '0.02'), image('2K', null, '0.035')]],
  ['seedream-4-0', [image('2048x2048', null, '0.03')]],
  ['flux-2-pro', [image('1024x1024', null, '0.030735'), image('2048x2048', null, '0.077925')]],
])('CAT-2 IMG-8 %s has the examples %j', (id, expected) => {
  expect(examplesOf(id)).toEqual(expected);
});

test('CAT-2 VID-6 a video has an example for each size and length', () => {
  const clips = examplesOf('seedance-2-0');
  expect(clips).toHaveLength(12);
  expect(clips).toContainEqual({ size: '1920x1080', quality: null, seconds: 12, usd: '4.539612' });
  expect(clips).toContainEqual({ size: '1280x720', quality: null, seconds: 4, usd: '0.62468' });
});

test('CAT-2 AUD-1 AUD-3 speech and transcription have an example of a minute', () => {
  const minute = { size: null, quality: null, seconds: 60 };
  expect(examplesOf('tts-1')).toEqual([{ ...minute, characters: 900, usd: '0.0135' }]);
  expect(examplesOf('gpt-transcribe')).toEqual([{ ...minute, usd: '0.0045' }]);
  // 660 audio tokens, and 225 tokens of text.
  expect(examplesOf('gpt-4o-transcribe')).toEqual([{ ...minute, usd: '0.00621' }]);
});

test('CAT-2 models of text have no examples', () => {
  expect([examplesOf('gpt-5.5'), examplesOf('text-embedding-3-small')]).toEqual([[], []]);
});
