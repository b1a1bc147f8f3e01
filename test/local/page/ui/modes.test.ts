import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { toEntry } from '../../../../lambdas/protocols/models/shapes.ts';
import { firstModelOf, type GatewayModel, modelsOf, modes, sizesOf } from '../../../../local/page/ui/modes.ts';

const NOW_MS = Date.UTC(2026, 10, 27);
const catalog = loadCatalog(catalogData);
/** The data of `GET /api/models`. */
const models: readonly GatewayModel[] = JSON.parse(
  JSON.stringify(catalog.list(NOW_MS).map((model) => toEntry(catalog, model, NOW_MS))),
);
const find = (id: string): GatewayModel => models.find((model) => model.id === id)!;

test('CAT-2 every mode has models of the public list, and no model of another kind', () => {
  const kinds = modes.map((mode) => [...new Set(modelsOf(mode, models).map(({ kind }) => kind))]);
  expect(kinds).toEqual([['text'], ['text'], ['image'], ['speech'], ['video']]);
  const responses = modelsOf('responses', models);
  expect(responses.length).toBeLessThan(modelsOf('chat', models).length);
  expect(responses.every(({ protocols }) => protocols.includes('responses'))).toBe(true);
});

test('the first model of a mode is the cheapest one without a shutdown date', () => {
  const priced = (id: string, usd: string, shutdown_date: string | null = null): GatewayModel => ({
    ...find('flux-2-pro'),
    id,
    examples: [{ size: null, usd }],
    lifecycle: { shutdown_date },
  });
  const expensive = priced('expensive', '0.2');
  const cheap = priced('cheap', '0.04');
  const ending = priced('ending', '0.001', '2027-01-06');
  expect(firstModelOf([expensive, ending, cheap])).toBe(cheap);
  expect(firstModelOf([ending])).toBe(ending);
  expect(firstModelOf([])).toBeUndefined();
});

test('a text model without an example is compared by its price of output', () => {
  const text = modelsOf('chat', models);
  const outputs = text
    .filter(({ lifecycle }) => lifecycle.shutdown_date === null)
    .map(({ prices }) => Number(prices[0]?.prices_usd.output));
  expect(Number(firstModelOf(text)?.prices[0]?.prices_usd.output)).toBe(Math.min(...outputs));
});

test.each([
  ['gpt-image-2-fixed', ['1280x1280', '1280x720', '720x1280']],
  ['gemini-3-pro-image', ['1K', '2K', '4K']],
  ['flux-2-pro', ['1024x1024', '2048x2048']],
  ['seedance-2-0-fast', ['1280x720', '720x1280']],
])('IMG-2 the sizes of %s start with %j', (id, sizes) => {
  expect(sizesOf(find(id)).slice(0, sizes.length)).toEqual(sizes);
});

test.each(['gpt-image-2-prompt', 'gemini-3.1-flash-lite-image'])('IMG-2 %s offers no size', (id) => {
  expect(sizesOf(find(id))).toEqual([]);
});
