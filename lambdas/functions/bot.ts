import { createBotHandler } from './wiring/bot-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createBotHandler(await dependenciesFromEnvironment(process.env));
