import { dependenciesFromEnvironment } from './wiring/from-environment.ts';
import { createImagesHandler } from './wiring/images-handler.ts';

export const handler = createImagesHandler(await dependenciesFromEnvironment(process.env));
