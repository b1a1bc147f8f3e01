import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { ratesAt } from '../../../../lambdas/core/catalog/rates.ts';
import type { TextModel, TextRates } from '../../../../lambdas/core/catalog/schema.ts';
import { at } from './sample-data.ts';

const catalog: Catalog = loadCatalog(catalogData);

const textModel = (id: string, day: string): TextModel => {
  const model = catalog.find(id, at(day));
  if (model?.kind !== 'text') throw new Error(`${id} is no text model`);
  return model;
};

const rates = (id: string, day: string, promptTokens = 1): TextRates =>
  ratesAt(catalog.priceRow(textModel(id, day), at(day)), promptTokens);

const expectedIds = {
  text: [
    'gpt-6.2-astra gpt-6.2-sol gpt-6.1-sol gpt-6.1-terra gpt-6-sol gpt-6-luna gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna',
    'gpt-5.5 gpt-5.4 gpt-5.4-mini gpt-4.1-mini gpt-5.5-pro gpt-5.4-pro gpt-5.2-pro',
    'claude-fable-5-2 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-opus-5 claude-sonnet-5',
    'claude-opus-4-8 claude-haiku-4-5',
    'gemini-4-argon gemini-4-carbon gemini-4-hydrogen gemini-3.8-flash gemini-3.5-flash-lite gemini-3.1-pro-preview',
  ],
  image: [
    'gpt-image-2 gpt-image-2-fixed gpt-image-2-prompt gpt-image-2.6-sunburst gpt-image-2.6-flare gpt-image-1-mini',
    'gemini-nano-banana-2.1 gemini-3-pro-image gemini-3.1-flash-lite-image gemini-2.5-flash-image',
    'seedream-4-0 seedream-4-5 seedream-5-0-lite seedream-5-5 flux-2-pro flux-2-max flux-2-flex flux-2-klein-9b',
  ],
  video: ['sora-2 sora-2-pro seedance-2-0 seedance-2-0-fast seedance-1-5-pro'],
  transcription: ['gpt-transcribe gpt-4o-transcribe gpt-4o-mini-transcribe'],
  speech: ['tts-1 tts-1-hd'],
  moderation: ['omni-moderation-latest'],
  embedding: ['text-embedding-3-large text-embedding-3-small text-embedding-ada-002'],
};

test.each(Object.entries(expectedIds))('CAT-5 every %s model is there', (kind, lines) => {
  const ids = catalog.entries.filter((model) => model.kind === kind).map(({ id }) => id);
  // Others may have been added.
  expect(ids).toEqual(expect.arrayContaining(lines.join(' ').split(' ')));
});

test('CAT-5 at least 62 models, of which four are off', () => {
  expect(catalog.entries.length).toBeGreaterThanOrEqual(62);
  const off = catalog.entries.filter(({ enabled }) => !enabled).map(({ id }) => id);
  expect(off).toEqual(expect.arrayContaining(['gemini-2.5-flash-image', 'gpt-image-1-mini', 'sora-2', 'sora-2-pro']));
  expect(catalog.list(at('2026-11-20')).length).toBeGreaterThanOrEqual(58);
});

test('CAT-5 exactly the three pro models speak responses', () => {
  const pro = catalog.list(at('2026-11-20')).filter(({ protocols }) => protocols.some((name) => name === 'responses'));
  expect(pro.map(({ id }) => id)).toEqual(['gpt-5.5-pro', 'gpt-5.4-pro', 'gpt-5.2-pro']);
});

test('BILL-3 dated prices change with the UTC day', () => {
  expect(rates('gemini-4-argon', '2026-11-30').input).toBe(2_000_000n);
  expect(rates('gemini-4-argon', '2026-12-01').input).toBe(4_000_000n);
  expect(rates('gemini-3.8-flash', '2026-12-31').input).toBe(750_000n);
  expect(rates('gemini-3.8-flash', '2027-01-01').input).toBe(1_500_000n);
});

test('BILL-3 the promotion of gpt-5.6-sol ends with 2026-11-21, tiers included', () => {
  expect(rates('gpt-5.6-sol', '2026-11-21')).toMatchObject({ input: 4_000_000n, output: 20_000_000n });
  expect(rates('gpt-5.6-sol', '2026-11-21', 272_001)).toEqual({
    input: 8_000_000n,
    cachedInput: 800_000n,
    cacheWrite: 10_000_000n,
    output: 30_000_000n,
  });
  expect(rates('gpt-5.6-sol', '2026-11-22')).toMatchObject({ input: 5_000_000n, output: 30_000_000n });
  expect(rates('gpt-5.6-sol', '2026-11-22', 272_001)).toMatchObject({ input: 10_000_000n, output: 45_000_000n });
});

test('BILL-5 the long prompts of claude-haiku-5-5 cost five times as much, cache included', () => {
  const short = rates('claude-haiku-5-5', '2026-11-20', 100_000);
  const long = rates('claude-haiku-5-5', '2026-11-20', 100_001);
  for (const name of ['input', 'output', 'cacheWrite5m', 'cacheWrite1h', 'cacheRead'] as const)
    expect(long[name]).toBe((short[name] ?? 0n) * 5n);
});

test.each(['1', '1.25', '2', '0.1', '1.2'])('BILL-3 every price is whole with a markup of %s', (markup) => {
  expect(loadCatalog(catalogData, { markup }).entries).toHaveLength(catalog.entries.length);
});

test('CAT-4 gpt-4.1-mini leaves on 2027-01-14 and names gpt-6-luna', () => {
  expect(catalog.find('gpt-4.1-mini', at('2027-01-13'))).toBeDefined();
  expect(catalog.find('gpt-4.1-mini', at('2027-01-14'))).toBeUndefined();
  expect(catalog.explainMissing('gpt-4.1-mini', at('2027-01-14'))).toContain('Use "gpt-6-luna" instead.');
});

test('MSG-3 the thinking alias resolves to its model', () => {
  const aliased = catalog.entries.filter((model) => model.kind === 'text' && model.thinking?.suffix !== undefined);
  expect(aliased.length).toBeGreaterThanOrEqual(8);
  for (const { id } of aliased) expect(catalog.find(`${id}-thinking`, at('2026-11-20'))?.id).toBe(id);
});

test('IMG-9 30 sizes in three tiers, six of them above the limit of the vendor', () => {
  const model = catalog.find('gpt-image-2-fixed', at('2026-11-20'));
  if (model?.kind !== 'image' || model.image.size.mode !== 'enum_by_tier') throw new Error('no sizes by tier');
  const { tiers, upstreamLimit } = model.image.size;
  const areas = Object.values(tiers).flatMap((sizes = []) =>
    sizes.map((size) => size.split('x').reduce((area, edge) => area * Number(edge), 1)),
  );
  expect(areas).toHaveLength(30);
  expect(areas.filter((area) => area > upstreamLimit.maxPixels)).toHaveLength(6);
});

test('CAT-5 base URLs are those the SDKs of the vendors take; the relay is off', () => {
  const urls = Object.fromEntries(catalog.providers.map(({ id, baseUrl }) => [id, baseUrl]));
  expect(urls).toMatchObject({
    openai: 'https://api.openai.com/v1',
    anthropic: 'https://api.anthropic.com',
    google: 'https://generativelanguage.googleapis.com',
    byteplus: 'https://ark.ap-southeast.bytepluses.com/api/v3',
    bfl: 'https://api.bfl.ai',
    relay: null,
  });
  expect(catalog.provider('relay')).toMatchObject({ kind: 'openai-compatible', enabled: false });
});
