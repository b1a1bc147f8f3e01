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
import type { Parts } from './dependencies.ts';
import { toHttpPorts } from './http.ts';

export const createCatalogHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), {
    listModels: createListModels(parts),
    getModel: createGetModel(parts),
    listGoogleModels: createListGoogleModels(parts),
    getGoogleModel: createGetGoogleModel(parts),
    listPrices: createListPrices(parts),
    listFallbacks: createListFallbacks(parts),
    health: createGetHealth(parts),
  });
