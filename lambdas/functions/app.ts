import { createAppHandler } from './wiring/app-handler.ts';
import { partsFromEnvironment } from './wiring/parts-from-environment.ts';

export const handler = createAppHandler(await partsFromEnvironment(process.env));
