import { createContentHandler } from './wiring/content-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createContentHandler(await dependenciesFromEnvironment(process.env));
