import { type OutboxReport, settleOutbox } from '../../core/ledger/outbox.ts';
import type { LedgerFunctionDependencies } from './dependencies.ts';
import { toLedgerDependencies } from './ledger.ts';
import { isPaused } from './maintenance.ts';

/**
 * Runs every minute, and does nothing while workers are paused. Not an HTTP function. Logs its report, then throws the bug that the report contains, if there is
 * one. A run that did not reach the last entry is continued by the next one, unless its process ends.
 */
export const createOutboxHandler = (deps: LedgerFunctionDependencies) => {
  let after: string | undefined;
  return async (): Promise<void> => {
    if (await isPaused(deps, 'outbox')) return;
    const report = await settleOutbox(toLedgerDependencies(deps), after);
    after = report.nextAfter;
    emitReport(deps, report);
    if (report.bug) throw report.bug;
  };
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
