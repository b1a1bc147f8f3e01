import { partsFromEnvironment } from './wiring/from-environment.ts';
import { createTextHandler } from './wiring/text-handler.ts';

export const handler = createTextHandler(await partsFromEnvironment(process.env));
