import { catalogData } from '../../catalog/index.ts';
import { loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import type { PlaygroundModel } from './ui/wire.ts';

/** The models that answer a chat with text, in the order of the catalog. */
export function listPlaygroundModels(nowMs: number, vendorIds: ReadonlySet<string>): readonly PlaygroundModel[] {
  return loadCatalog(catalogData)
    .list(nowMs)
    .flatMap((model) => {
      if (model.kind !== 'text' || !model.protocols.includes('chat_completions')) return [];
      const vendor = model.upstreams.find(({ provider }) => vendorIds.has(provider))?.provider;
      if (vendor === undefined) return [];
      const { sampling, streaming } = model.capabilities;
      const { id, ownedBy } = model;
      return [{ id, owned_by: ownedBy, vendor, takes_temperature: sampling, takes_stream: streaming }];
    });
}
