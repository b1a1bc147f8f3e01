import { type OutboxReport, settleOutbox } from '../../core/ledger/outbox.ts';
import type { LedgerFunctionDependencies } from './dependencies.ts';
import { toLedgerDependencies } from './ledger.ts';

/**
 * Runs every minute. Not an HTTP function. Logs its report, then throws the bug that the report contains, if there is
 * one.
 */
export const createOutboxHandler = (deps: LedgerFunctionDependencies) => async (): Promise<void> => {
  const report = await settleOutbox(toLedgerDependencies(deps));
  emitReport(deps, report);
  if (report.bug) throw report.bug;
};

const emitReport = (
  { reporting, clock }: LedgerFunctionDependencies,
  { settled, late, failed, oldestAtMs }: OutboxReport,
): void => {
  reporting.measured({
    notes_late: late,
    notes_failed: failed,
    note_age_s: oldestAtMs === undefined ? undefined : (clock.now() - oldestAtMs) / 1_000,
  });
  if (settled + late + failed === 0) return;
  reporting.notice('notes_settled', { settled: String(settled), late: String(late), failed: String(failed) });
};
