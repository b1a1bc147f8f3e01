import { type SweepReport, sweep } from '../../core/ledger/sweep.ts';
import type { LedgerFunctionDependencies, Reporting } from './dependencies.ts';
import { toLedgerDependencies } from './ledger.ts';
import { isClockWrong, isPaused } from './maintenance.ts';

/**
 * Runs every minute, and does nothing while workers are paused or the clock is too far from the store's. Not an HTTP function. Logs its report, then throws the bug that the report contains, if there is
 * one.
 */
export const createSweepHandler = (deps: LedgerFunctionDependencies) => async (): Promise<void> => {
  if ((await isPaused(deps, 'sweep')) || (await isClockWrong(deps, 'sweep'))) return;
  const report = await sweep(toLedgerDependencies(deps));
  emitReport(deps.reporting, report);
  if (report.bug) throw report.bug;
};

const emitReport = ({ measured, notice }: Reporting, { released, finished, failed }: SweepReport): void => {
  measured({ swept_released: released, swept_finished: finished, sweep_failed: failed });
  if (released + finished + failed === 0) return;
  notice('holds_swept', { released: String(released), finished: String(finished), failed: String(failed) });
};
