import { createAccountHandler } from './wiring/account-handler.ts';
import { partsFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAccountHandler(await partsFromEnvironment(process.env));
