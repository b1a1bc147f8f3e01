import { createAppHandler } from './wiring/app-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAppHandler(await dependenciesFromEnvironment(process.env));
