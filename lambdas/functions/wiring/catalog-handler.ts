import { createHandler } from '../../http/handler.ts';
import {
  createGetGoogleModel,
  createGetHealth,
  createGetModel,
  createListFallbacks,
  createListGoogleModels,
  createListModels,
  createListPrices,
} from '../../protocols/models/handlers.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';

export const createCatalogHandler = (deps: FunctionDependencies) => {
  const http = toHttpDependencies(deps);
  return createHandler(http, {
    listModels: createListModels(deps),
    getModel: createGetModel(deps),
    listGoogleModels: createListGoogleModels(deps),
    getGoogleModel: createGetGoogleModel(deps),
    listPrices: createListPrices(deps),
    listFallbacks: createListFallbacks(deps),
    health: createGetHealth({ problems: deps.problems, maintenance: http.maintenance }),
  });
};
