import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';

/**
 * Image models of the shipped catalog, including disabled and retired models, because some size rules may have no other
 * model.
 */
export const imageModels: readonly ImageModel[] = loadCatalog(catalogData).entries.flatMap((model) =>
  model.kind === 'image' ? [model] : [],
);

export const imageModel = (id: string): ImageModel => {
  const model = imageModels.find((each) => each.id === id);
  if (!model) throw new Error(`there is no image model ${id}`);
  return model;
};

export const refusalOf = (work: () => unknown): GatewayError => {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was not rejected');
};
