import type { LedgerDependencies } from '../../lambdas/core/ledger/ledger.ts';
import { settleOutbox as settle } from '../../lambdas/core/ledger/outbox.ts';
import { sweep as sweepHolds } from '../../lambdas/core/ledger/sweep.ts';
import { type ResumeDependencies, resumeVideos as resume } from '../../lambdas/core/videos/resume-videos.ts';

const strict = <Report extends { readonly bug: Error | undefined }>(report: Report): Report => {
  if (report.bug) throw report.bug;
  return report;
};

/**
 * Runs a job of every minute, but throws the `bug` of its report, for tests that do not check the report. The same
 * applies to the next two jobs.
 */
export const resumeVideos = async (ports: ResumeDependencies) => strict(await resume(ports));
export const sweep = async (ports: LedgerDependencies) => strict(await sweepHolds(ports));
export const settleOutbox = async (ports: LedgerDependencies) => strict(await settle(ports));
