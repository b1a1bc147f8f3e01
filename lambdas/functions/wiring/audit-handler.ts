import type { AccountAudit, Finding } from '../../core/ledger/audit.ts';
import { auditUntil } from '../../core/ledger/audit-run.ts';
import { createAuditCursor, createLedgerRecords } from '../../stores/dynamodb/ledger-records.ts';
import type { AuditFunctionDependencies, Reporting } from './dependencies.ts';
import { type Environment, openLedger } from './ledger.ts';

/**
 * Time in ms after which a run starts no further account. The function may run for five minutes, because the last
 * account can need longer.
 */
const RUN_MS = 240_000;

/** Limit on the reported findings of one account, because a broken account causes many similar findings. */
const TOLD_MAX = 5;

/** Called every hour. Not an HTTP function. */
export const createAuditHandler = (deps: AuditFunctionDependencies) => async (): Promise<void> => {
  const { clock, reporting } = deps;
  const found = { accounts: 0, differences: 0, orphans: 0, unstable: 0 };
  let complete = false;
  try {
    ({ complete } = await auditUntil(toDependencies(deps), clock.now() + RUN_MS, {
      audited: (audit) => {
        const differences = audit.findings.filter((finding) => !isOrphan(finding));
        found.accounts += 1;
        found.differences += differences.length;
        found.orphans += audit.findings.length - differences.length;
        found.unstable += audit.stable ? 0 : 1;
        emitReport(reporting, audit);
      },
      tooLong: (accountId) => reporting.notice('audit_too_long', { accountId }),
    }));
  } finally {
    // Logged even if this run failed, because the next run continues after the accounts of this one.
    reporting.measured({
      audit_accounts: found.accounts,
      audit_differences: found.differences,
      audit_unstable: found.unstable,
      audit_passes: complete ? 1 : 0,
      orphaned_holds: found.orphans,
    });
  }
};

const toDependencies = ({ ledgerStore, ledgerRecords, auditCursor, clock }: AuditFunctionDependencies) => ({
  store: ledgerStore,
  records: ledgerRecords,
  cursor: auditCursor,
  clock,
});

/**
 * Whether the finding is a hold that the sweeper should have ended. No amount is wrong, but the held money is not
 * available.
 */
const isOrphan = ({ invariant }: Finding): boolean => invariant === 'hold-swept';

const emitReport = ({ notice }: Reporting, { findings }: AccountAudit): void => {
  for (const { accountId, recordId, invariant, message } of findings.slice(0, TOLD_MAX))
    notice('audit_difference', { accountId, record: recordId ?? '', invariant, reason: message });
};

export const auditDependenciesFromEnvironment = (environment: Environment): AuditFunctionDependencies => {
  const { settings, db, clock, ledgerStore, reporting } = openLedger(environment);
  return {
    clock,
    ledgerStore,
    ledgerRecords: createLedgerRecords(db.repeating, settings.ACCOUNTS_TABLE),
    auditCursor: createAuditCursor(db.repeating, settings.COUNTERS_TABLE),
    reporting,
  };
};
