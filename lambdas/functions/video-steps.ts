import { videoDependenciesFromEnvironment } from './wiring/video-dependencies.ts';
import { createVideoStepsHandler } from './wiring/video-steps-handler.ts';

export const handler = createVideoStepsHandler(await videoDependenciesFromEnvironment(process.env));
