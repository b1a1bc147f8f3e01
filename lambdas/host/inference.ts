import { createAudioHandler } from '../functions/wiring/audio-handler.ts';
import { dependenciesFromEnvironment } from '../functions/wiring/from-environment.ts';
import { createImagesHandler } from '../functions/wiring/images-handler.ts';
import { toProcessPorts } from '../functions/wiring/paid-call.ts';
import { createTextHandler } from '../functions/wiring/text-handler.ts';
import { createVideosHandler } from '../functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from './lambda-runtime.ts';
import { endWhenAsked, startWebFunction } from './web-function.ts';

/** What four functions serve, in one process: one budget of bodies, one set of limits, circuits and drains for all of them (GEN-14, LIM-1, BILL-8). */
installLambdaRuntime();
const deps = await dependenciesFromEnvironment(process.env);
const ports = toProcessPorts(deps);
const handlers = {
  text: streaming(createTextHandler(deps, ports)),
  images: streaming(createImagesHandler(deps, ports)),
  audio: streaming(createAudioHandler(deps, ports)),
  videos: streaming(createVideosHandler(deps, ports)),
};
endWhenAsked(await startWebFunction(handlers, process.env), process);
