import { dependenciesFromEnvironment } from './wiring/from-environment.ts';
import { createVideosHandler } from './wiring/videos-handler.ts';

export const handler = createVideosHandler(await dependenciesFromEnvironment(process.env));
