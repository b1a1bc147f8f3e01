import { ledgerDependenciesFromEnvironment } from './wiring/ledger.ts';
import { createOutboxHandler } from './wiring/outbox-handler.ts';

export const handler = createOutboxHandler(ledgerDependenciesFromEnvironment(process.env));
