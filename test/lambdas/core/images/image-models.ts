import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import type { ImageModel } from '../../../../lambdas/core/catalog/schema.ts';
import { GatewayError } from '../../../../lambdas/core/errors/gateway-error.ts';

/** Of the shipped catalog, what is switched off or retired included: a rule that only such an entry has is to hold as well. */
export const imageModels: readonly ImageModel[] = loadCatalog(catalogData).entries.flatMap((model) =>
  model.kind === 'image' ? [model] : [],
);

export const imageModel = (id: string): ImageModel => {
  const model = imageModels.find((each) => each.id === id);
  if (!model) throw new Error(`no image model ${id}`);
  return model;
};

export const refusalOf = (work: () => unknown): GatewayError => {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was not refused');
};
