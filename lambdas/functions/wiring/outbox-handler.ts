import { settleNotes } from '../../core/ledger/settle-notes.ts';
import { toLedgerPorts } from './ledger-ports.ts';
import type { LedgerParts } from './parts.ts';

/** Called every minute. Not an HTTP function. */
export const createOutboxHandler = (parts: LedgerParts) => async (): Promise<void> => {
  const report = await settleNotes(toLedgerPorts(parts));
  const { oldestAtMs } = report;
  parts.reporting.measured({
    notes_late: report.late,
    notes_failed: report.failed,
    note_age_s: oldestAtMs === undefined ? undefined : (parts.clock.now() - oldestAtMs) / 1_000,
  });
  if (report.settled + report.late + report.failed === 0) return;
  parts.reporting.notice('notes_settled', {
    settled: String(report.settled),
    late: String(report.late),
    failed: String(report.failed),
  });
};
