import { auditPartsFromEnvironment, createAuditHandler } from './wiring/audit-handler.ts';

export const handler = createAuditHandler(auditPartsFromEnvironment(process.env));
