import { sweep } from '../../core/ledger/sweep.ts';
import { toLedgerPorts } from './ledger-ports.ts';
import type { LedgerParts } from './parts.ts';

/** Called every minute. Not an HTTP function. */
export const createSweepHandler = (parts: LedgerParts) => async (): Promise<void> => {
  const report = await sweep(toLedgerPorts(parts));
  parts.reporting.measured({
    swept_released: report.released,
    swept_finished: report.finished,
    sweep_failed: report.failed,
  });
  if (report.released + report.finished + report.failed === 0) return;
  parts.reporting.notice('holds_swept', {
    released: String(report.released),
    finished: String(report.finished),
    failed: String(report.failed),
  });
};
