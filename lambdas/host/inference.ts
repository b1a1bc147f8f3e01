import { createAudioHandler } from '../functions/wiring/audio-handler.ts';
import { toHttpPorts } from '../functions/wiring/http-ports.ts';
import { createImagesHandler } from '../functions/wiring/images-handler.ts';
import { partsFromEnvironment } from '../functions/wiring/parts-from-environment.ts';
import { createTextHandler } from '../functions/wiring/text-handler.ts';
import { createVideosHandler } from '../functions/wiring/videos-handler.ts';
import { installLambdaRuntime, streaming } from './lambda-runtime.ts';
import { endWhenAsked, startWebFunction } from './web-function.ts';

/** What four functions serve, in one process: one budget of bodies and one set of limits for all of them (GEN-14, LIM-1). */
installLambdaRuntime();
const parts = await partsFromEnvironment(process.env);
const http = toHttpPorts(parts);
const handlers = {
  text: streaming(createTextHandler(parts, http)),
  images: streaming(createImagesHandler(parts, http)),
  audio: streaming(createAudioHandler(parts, http)),
  videos: streaming(createVideosHandler(parts, http)),
};
endWhenAsked(await startWebFunction(handlers, process.env), process);
