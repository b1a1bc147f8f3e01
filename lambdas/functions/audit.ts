import { auditDependenciesFromEnvironment, createAuditHandler } from './wiring/audit-handler.ts';

export const handler = createAuditHandler(auditDependenciesFromEnvironment(process.env));
