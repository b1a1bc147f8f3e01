import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { pricesOn, publishedPrices } from '../../../../lambdas/core/price-list/published-prices.ts';

const catalog = loadCatalog(catalogData);
const TODAY = '2026-11-20';

const modelOf = (id: string) => {
  const model = catalog.entries.find((entry) => entry.id === id);
  if (!model) throw new Error(`no ${id}`);
  return model;
};
const rowsOf = (id: string) =>
  pricesOn(modelOf(id), TODAY).map(({ protocols, when, prices }) => ({ protocols: [...protocols], when, prices }));

test('CAT-2 BILL-18 a chat model publishes the input price for cached tokens', () => {
  const [short, long] = rowsOf('gpt-6.2-sol');
  const prompt = { input: 2_000_000n, cacheRead: 2_000_000n, cacheWrite: 2_000_000n, cacheWrite1h: 2_000_000n };
  expect(short).toEqual({
    protocols: ['chat_completions'],
    when: { inputTokensMax: 272_000 },
    prices: { ...prompt, output: 10_000_000n, reasoning: 10_000_000n },
  });
  expect(long).toMatchObject({ when: { inputTokensAbove: 272_000 }, prices: { cacheRead: 4_000_000n } });
});

test('CAT-2 BILL-12 a Claude model publishes cache prices for messages only', () => {
  expect(rowsOf('claude-opus-5')).toMatchObject([
    { protocols: ['chat_completions'], when: {}, prices: { input: 5_000_000n, cacheRead: 5_000_000n } },
    { protocols: ['messages'], prices: { cacheRead: 500_000n, cacheWrite: 6_250_000n, cacheWrite1h: 10_000_000n } },
  ]);
});

test('CAT-2 CHAT-12 an image model publishes its prices on images and on text endpoints', () => {
  expect(rowsOf('gemini-3-pro-image')).toMatchObject([
    {
      protocols: ['images_generations', 'images_edits'],
      prices: { imageInput: 2_000_000n, imageOutput: 120_000_000n },
    },
    { protocols: ['chat_completions', 'generate_content'], prices: { output: 12_000_000n, imageOutput: 120_000_000n } },
  ]);
});

test.each([
  ['gpt-image-2-fixed', [{ sizeTier: '1K' }, { sizeTier: '2K' }, { sizeTier: '4K' }]],
  ['seedream-5-5', [{ pixelsMax: 2_601_123 }, { pixelsAbove: 2_601_123 }]],
  ['seedance-2-0', [{ sizes: ['1280x720', '720x1280'] }, { sizes: ['1920x1080', '1080x1920'] }]],
  ['seedance-2-0-fast', [{}]],
  ['flux-2-pro', [{}]],
])('CAT-2 IMG-8 %s publishes prices for the requests %j', (id, conditions) => {
  expect(rowsOf(id).map(({ when }) => when)).toEqual(conditions);
});

test('CAT-2 prices have the names and units of receipts', () => {
  const namesOf = (id: string) => Object.entries(rowsOf(id)[0]?.prices ?? {});
  expect(namesOf('flux-2-pro')).toEqual([
    ['firstMegapixel', 30_000_000_000n],
    ['extraMilliMegapixel', 15_000_000n],
    ['referenceMilliMegapixel', 15_000_000n],
  ]);
  expect(namesOf('gpt-transcribe')).toEqual([['second', 75_000_000n]]);
  expect(namesOf('tts-1')).toEqual([['character', 15_000_000n]]);
  expect(namesOf('sora-2')).toEqual([['second', 100_000_000_000n]]);
  expect(namesOf('text-embedding-3-small')).toEqual([['input', 20_000n]]);
});

test('CAT-2 every span of days is published, and one of them applies on a day', () => {
  const spans = publishedPrices(modelOf('gemini-4-argon')).map(({ from, until }) => [from, until]);
  expect(spans).toEqual([
    [null, '2026-11-30'],
    ['2026-12-01', null],
  ]);
  expect(pricesOn(modelOf('gemini-4-argon'), '2026-12-01')).toMatchObject([{ prices: { input: 4_000_000n } }]);
});
