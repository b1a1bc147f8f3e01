import type { Catalog } from '../../../../lambdas/core/catalog/catalog.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { Provider, TextModel, Upstream } from '../../../../lambdas/core/catalog/schema.ts';
import { data, provider, text } from '../catalog/sample-data.ts';

type Changes = Readonly<Record<string, unknown>>;

export const NOW = Date.UTC(2026, 10, 1);

/** Returns the first model of a catalog. Throws if it is not a text model. */
export const firstText = (catalog: Catalog): TextModel => {
  const [model] = catalog.entries;
  if (model?.kind !== 'text') throw new Error('the catalog has no text model');
  return model;
};

export const textModel = (changes: Changes = {}): TextModel => firstText(loadCatalog(data([text(changes)])));

export const providerOf = (changes: Changes = {}): Provider => {
  const catalog = loadCatalog(data([text()], [provider(changes), provider({ id: 'spare' })]));
  const [found] = catalog.providers;
  if (!found) throw new Error('no provider');
  return found;
};

export const upstreamOf = (model: TextModel): Upstream => {
  const [upstream] = model.upstreams;
  if (!upstream) throw new Error('no upstream');
  return upstream;
};
