import { createCatalogHandler } from './wiring/catalog-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createCatalogHandler(await dependenciesFromEnvironment(process.env));
