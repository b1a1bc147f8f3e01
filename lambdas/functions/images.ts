import { createImagesHandler } from './wiring/images-handler.ts';
import { partsFromEnvironment } from './wiring/parts-from-environment.ts';

export const handler = createImagesHandler(await partsFromEnvironment(process.env));
