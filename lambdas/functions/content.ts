import { createContentHandler } from './wiring/content-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createContentHandler(await partsFromEnvironment(process.env));
