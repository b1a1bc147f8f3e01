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
import { toHttpPorts } from './http-ports.ts';
import type { Parts } from './parts.ts';

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
