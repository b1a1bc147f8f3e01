import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { allowedFallbacks } from '../../../../lambdas/core/catalog/fallbacks.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { at, problemsOf } from './sample-data.ts';

const day = at('2026-11-20');
const all = loadCatalog(catalogData);
const some = loadCatalog(catalogData, { companies: ['openai', 'google'] });

test('CAT-1, CAT-2, CAT-6 every model of the enabled companies is served, and no other model', () => {
  const wanted = all.list(day).filter(({ company }) => company === 'openai' || company === 'google');
  expect(wanted.length).toBeGreaterThan(10);
  expect(some.list(day).map(({ id }) => id)).toEqual(wanted.map(({ id }) => id));
  const others = all.list(day).filter((model) => !wanted.includes(model));
  expect(new Set(others.map(({ company }) => company)).size).toBe(3);
  for (const { id, aliases } of others) {
    for (const name of [id, ...aliases]) expect(some.find(name, day), name).toBeUndefined();
    expect(some.explainMissing(id, day)).toContain(`"${id}" does not exist or is not enabled.`);
    expect(others.map((model) => model.id)).not.toContain(some.nearest(id, day));
  }
});

test('CAT-3 fallbacks are served models, and a model that is not served has none', () => {
  const texts = all.list(day).filter((model) => model.kind === 'text');
  for (const model of texts) {
    const served = some.find(model.id, day) !== undefined;
    const before = allowedFallbacks(all, model, day).map(({ id }) => id);
    const kept = some.entries.find((entry) => entry.id === model.id);
    if (kept?.kind !== 'text') throw new Error('the entry is gone');
    expect(allowedFallbacks(some, kept, day).map(({ id }) => id)).toEqual(served ? before : []);
  }
});

test('CAT-5 an unknown company is reported by name, with the allowed companies', () => {
  expect(problemsOf(catalogData, { companies: ['openai', 'unknown', 'constructor'] })).toEqual(
    ['unknown', 'constructor'].map((company) => ({
      id: 'catalog',
      field: 'companies',
      message: `"${company}" must be one of openai, anthropic, google, bytedance, black-forest-labs`,
    })),
  );
});
