import { createContentHandler } from '../functions/wiring/content-handler.ts';
import { dependenciesFromEnvironment } from '../functions/wiring/from-environment.ts';
import { installLambdaRuntime, streaming } from './lambda-runtime.ts';
import { endWhenAsked, startWebFunction } from './web-function.ts';

/** A Web Function has no handler that AWS calls: importing this file starts the server. */
installLambdaRuntime();
const handler = createContentHandler(await dependenciesFromEnvironment(process.env));
endWhenAsked(await startWebFunction({ content: streaming(handler) }, process.env), process);
