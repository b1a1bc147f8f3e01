import { ledgerPartsFromEnvironment } from './wiring/ledger.ts';
import { createOutboxHandler } from './wiring/outbox-handler.ts';

export const handler = createOutboxHandler(ledgerPartsFromEnvironment(process.env));
