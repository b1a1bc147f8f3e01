import { createAppHandler } from './wiring/app-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAppHandler(await partsFromEnvironment(process.env));
