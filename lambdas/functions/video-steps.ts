import { videoPartsFromEnvironment } from './wiring/video-dependencies.ts';
import { createVideoStepsHandler } from './wiring/video-steps-handler.ts';

export const handler = createVideoStepsHandler(await videoPartsFromEnvironment(process.env));
