import { createAccountHandler } from './wiring/account-handler.ts';
import { dependenciesFromEnvironment } from './wiring/from-environment.ts';

export const handler = createAccountHandler(await dependenciesFromEnvironment(process.env));
