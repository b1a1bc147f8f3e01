import type { LedgerDependencies } from '../../lambdas/core/ledger/ledger.ts';
import { settleOutbox as settle } from '../../lambdas/core/ledger/outbox.ts';
import { sweep as sweepHolds } from '../../lambdas/core/ledger/sweep.ts';
import { type ResumeDependencies, resumeVideos as resume } from '../../lambdas/core/videos/resume-videos.ts';

const strict = <Report extends { readonly bug: Error | undefined }>(report: Report): Report => {
  if (report.bug) throw report.bug;
  return report;
};

/** Like the functions of every minute, for tests that do not look at the report: a bug is thrown. */
export const resumeVideos = async (ports: ResumeDependencies) => strict(await resume(ports));
export const sweep = async (ports: LedgerDependencies) => strict(await sweepHolds(ports));
export const settleOutbox = async (ports: LedgerDependencies) => strict(await settle(ports));
