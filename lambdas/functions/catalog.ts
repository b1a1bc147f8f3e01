import { createCatalogHandler } from './wiring/catalog-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createCatalogHandler(await partsFromEnvironment(process.env));
