import { createAuditCursor, createLedgerRecords } from '../../stores/dynamodb/ledger-records.ts';
import { type Environment, openLedger } from './ledger-parts.ts';
import type { AuditParts } from './parts.ts';

export const auditPartsFromEnvironment = (environment: Environment): AuditParts => {
  const { settings, clients, clock, ledgerStore, reporting } = openLedger(environment);
  return {
    clock,
    ledgerStore,
    ledgerRecords: createLedgerRecords(clients.repeating, settings.ACCOUNTS_TABLE),
    auditCursor: createAuditCursor(clients.repeating, settings.COUNTERS_TABLE),
    reporting,
  };
};
