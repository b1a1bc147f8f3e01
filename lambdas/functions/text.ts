import { dependenciesFromEnvironment } from './wiring/from-environment.ts';
import { createTextHandler } from './wiring/text-handler.ts';

export const handler = createTextHandler(await dependenciesFromEnvironment(process.env));
