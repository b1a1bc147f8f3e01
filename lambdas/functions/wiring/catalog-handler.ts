import { createHandler } from '../../http/handler.ts';
import { createGetModel, createListModels, createListPrices, getHealth } from '../../protocols/models/handlers.ts';
import { toHttpPorts } from './http-ports.ts';
import type { Parts } from './parts.ts';

export const createCatalogHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), {
    listModels: createListModels(parts),
    getModel: createGetModel(parts),
    listPrices: createListPrices(parts),
    health: getHealth,
  });
