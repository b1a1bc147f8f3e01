import { createContentHandler } from '../functions/wiring/content-handler.ts';
import { dependenciesFromEnvironment } from '../functions/wiring/from-environment.ts';
import { installLambdaRuntime, streaming } from './lambda-runtime.ts';
import { endWhenAsked, LAST_MS, startWebFunction } from './web-function.ts';

/** A Web Function has no handler that AWS calls: importing this file starts the server. */
installLambdaRuntime();
const deps = await dependenciesFromEnvironment(process.env);
const handlers = { content: streaming(createContentHandler(deps)) };
endWhenAsked(await startWebFunction(handlers, process.env), process, LAST_MS, deps.reporting.tracing?.flush);
