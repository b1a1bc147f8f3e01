import { expect, test } from 'vitest';
import { catalogData } from '../../../catalog/index.ts';
import { cheapestModels } from '../../../lambdas/checks/cheapest-models.ts';
import { loadCatalog } from '../../../lambdas/core/catalog/load-catalog.ts';
import { toEntry } from '../../../lambdas/protocols/models/shapes.ts';

const DAY = Date.UTC(2026, 10, 20);
const row = (input: string, output: string, more: object = {}) => ({
  protocols: ['chat_completions'],
  from: null,
  until: null,
  prices_usd: { input, output },
  ...more,
});
const model = (id: string, owned_by: string, prices: readonly object[], kind = 'text') => ({
  id,
  kind,
  owned_by,
  prices,
});

test('OPS-13 the check tries the cheapest text model of each company, the cheapest first', () => {
  const list = {
    data: [
      model('expensive', 'a', [row('0.00002', '0.00002')]),
      model('middle', 'a', [row('0.00000002', '0.00000003')]),
      model('cheap', 'b', [row('0.00000001', '0.00000001')]),
      model('image', 'c', [row('0', '0')], 'image'),
      model('native', 'd', [row('0', '0', { protocols: ['messages'] })]),
    ],
  };
  expect(cheapestModels(list, DAY)).toEqual(['cheap', 'middle']);
});

test('OPS-13 the price of the day decides, and its bounds are included', () => {
  const past = row('0', '0', { until: '2026-11-19' });
  const future = row('0', '0', { from: '2026-11-21' });
  const today = row('0.00000002', '0', { from: '2026-11-20', until: '2026-11-20' });
  const other = model('other', 'b', [row('0.00000001', '0')]);
  expect(cheapestModels({ data: [model('dated', 'a', [past, future, today]), other] }, DAY)).toEqual([
    'other',
    'dated',
  ]);
  expect(cheapestModels({ data: [model('dated', 'a', [past, future])] }, DAY)).toEqual([]);
});

test('OPS-13 an unreadable price list has no models', () => {
  for (const list of [undefined, {}, { data: 'x' }]) expect(cheapestModels(list, DAY)).toEqual([]);
});

test('OPS-13 the published price list has a model of several companies', () => {
  const catalog = loadCatalog(catalogData);
  const data = catalog.list(DAY).map((each) => toEntry(catalog, each, DAY));
  expect(cheapestModels({ data }, DAY).length).toBeGreaterThanOrEqual(3);
});
