import { ledgerPartsFromEnvironment } from './wiring/ledger.ts';
import { createSweepHandler } from './wiring/sweep-handler.ts';

export const handler = createSweepHandler(ledgerPartsFromEnvironment(process.env));
