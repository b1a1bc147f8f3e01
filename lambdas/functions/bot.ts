import { createBotHandler } from './wiring/bot-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createBotHandler(await partsFromEnvironment(process.env));
