import { partsFromEnvironment } from './wiring/from-environment.ts';
import { createVideosHandler } from './wiring/videos-handler.ts';

export const handler = createVideosHandler(await partsFromEnvironment(process.env));
