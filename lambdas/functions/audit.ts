import { createAuditHandler } from './wiring/audit-handler.ts';
import { auditPartsFromEnvironment } from './wiring/audit-parts.ts';

export const handler = createAuditHandler(auditPartsFromEnvironment(process.env));
