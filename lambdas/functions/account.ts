import { createAccountHandler } from './wiring/account-handler.ts';
import { partsFromEnvironment } from './wiring/parts-from-environment.ts';

export const handler = createAccountHandler(await partsFromEnvironment(process.env));
