import { videoPartsFromEnvironment } from './wiring/video-parts.ts';
import { createVideoSweepHandler } from './wiring/video-sweep-handler.ts';

export const handler = createVideoSweepHandler(await videoPartsFromEnvironment(process.env));
