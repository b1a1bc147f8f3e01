import { createAudioHandler } from '../functions/wiring/audio-handler.ts';
import { dependenciesFromEnvironment } from '../functions/wiring/from-environment.ts';
import { createImagesHandler } from '../functions/wiring/images-handler.ts';
import { toProcessDependencies } from '../functions/wiring/paid-call.ts';
import { createTextHandler } from '../functions/wiring/text-handler.ts';
import { createVideosHandler } from '../functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from './lambda-runtime.ts';
import { endWhenAsked, LAST_MS, startWebFunction } from './web-function.ts';

/**
 * Serves four functions in one process, with one body budget and one set of limits and circuits for all (GEN-14,
 * LIM-1).
 */
installLambdaRuntime();
const deps = await dependenciesFromEnvironment(process.env);
const dependencies = toProcessDependencies(deps);
const handlers = {
  text: streaming(createTextHandler(deps, dependencies)),
  images: streaming(createImagesHandler(deps, dependencies)),
  audio: streaming(createAudioHandler(deps, dependencies)),
  videos: streaming(createVideosHandler(deps, dependencies)),
};
endWhenAsked(await startWebFunction(handlers, process.env), process, LAST_MS, deps.reporting.tracing?.flush);
