import { ledgerDependenciesFromEnvironment } from './wiring/ledger.ts';
import { createSweepHandler } from './wiring/sweep-handler.ts';

export const handler = createSweepHandler(ledgerDependenciesFromEnvironment(process.env));
