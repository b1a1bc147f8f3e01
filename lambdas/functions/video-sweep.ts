import { videoDependenciesFromEnvironment } from './wiring/video-dependencies.ts';
import { createVideoSweepHandler } from './wiring/video-sweep-handler.ts';

export const handler = createVideoSweepHandler(await videoDependenciesFromEnvironment(process.env));
