import type { Command } from 'commander';
import { type Account, balanceOf } from '../../lambdas/core/ledger/ledger.ts';
import { resolveHoldById } from '../../lambdas/core/ledger/release.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { releaseVideo } from '../../lambdas/core/videos/finish-video.ts';
import { LAST_STEPS_MS } from '../../lambdas/core/videos/resume-videos.ts';
import { isEnded, type VideoJob } from '../../lambdas/core/videos/video-job.ts';
import { readAccount, toTime } from '../account-facts.ts';
import { type MoneyOptions, withMoney } from '../command-options.ts';
import { failed, refused } from '../exit.ts';
import { secondsAt, toLedgerDependencies } from '../ledger-at.ts';
import { printFacts } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { logOperation } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface SettleOptions extends MoneyOptions {
  readonly force?: true;
}

export const addSettleCommand = (videos: Command, terminal: Terminal): void => {
  withMoney(
    videos
      .command('settle <video>')
      .description('end a stuck video: completed if it was charged, else failed with its hold released'),
  )
    .option('--force', 'also if the video may still be in progress; it is then not charged')
    .action(async (videoId: string, options: SettleOptions) => {
      const result = await atPlace(terminal, options, (place) => settle(place, terminal, videoId, options));
      await printFacts(terminal, options.json === true, result);
    });
};

const settle = async (place: Place, terminal: Terminal, videoId: string, options: SettleOptions) => {
  const job = await readJob(place, videoId);
  const before = await readAccount(place, job.accountId);
  // If the job has ended but its hold is still open, continue, because an earlier run was interrupted.
  if (isEnded(job) && !before.holds.has(job.holdId)) return toResult({ job, before, after: before, repeated: true });
  refuseWhileMade(place, job, options);
  if (options.dryRun) {
    printDryRun(terminal);
    return toResult({ job, before, after: before, repeated: false });
  }
  await confirmWrite(terminal, options, `End ${videoId} of ${job.accountId}? Its status is ${job.state}.`);
  await logOperation(place, job.accountId, `videos settle ${videoId}`, options);
  const ledger = toLedgerDependencies(place);
  // Write the record first: it decides the outcome and names the operator. `releaseVideo` then follows the record.
  await resolveHoldById(ledger, { accountId: job.accountId, holdId: job.holdId, reason: `operator:${options.ref}` });
  const { webhook } = await releaseVideo(
    {
      ledger,
      jobs: place.stores.videoJobs,
      files: place.stores.videoFiles,
      times: { limitMs: limitMsAt(place) },
      notice: (notice) => terminal.status(notice),
    },
    videoId,
  );
  if (webhook)
    terminal.status('The webhook of this video is not called. The client learns the result from GET /v1/videos/{id}.');
  const after = await readAccount(place, job.accountId);
  return toResult({ job: await readJob(place, videoId), before, after, repeated: false });
};

const readJob = async ({ stores }: Place, videoId: string): Promise<VideoJob> => {
  const job = await stores.videoJobs.read(videoId);
  if (job) return job;
  throw failed(`${videoId}: no such video. List them with \`videos list\`.`);
};

const limitMsAt = (place: Place): number => secondsAt(place, 'VIDEO_LIMIT_SECONDS') * 1_000;

/**
 * Throws without `--force` while the execution of the video, with all retries of its last steps, may still run. After
 * that time, the video sweep ends the video.
 */
const refuseWhileMade = (place: Place, job: VideoJob, { force }: SettleOptions): void => {
  const overdueAtMs = job.createdAtMs + limitMsAt(place) + LAST_STEPS_MS;
  if (force || isEnded(job) || Date.now() >= overdueAtMs) return;
  throw refused(`${job.id}: may be in progress until ${toTime(overdueAtMs)}. Use --force to end it earlier.`);
};

interface Outcome {
  readonly job: VideoJob;
  readonly before: Account;
  readonly after: Account;
  readonly repeated: boolean;
}

const toResult = ({ job, before, after, repeated }: Outcome) => ({
  id: job.id,
  account: job.accountId,
  status: job.state,
  error: job.failure?.code ?? null,
  /** Whether the video had already ended. */
  repeated,
  balance_before_usd: formatUsd(balanceOf(before)),
  balance_after_usd: formatUsd(balanceOf(after)),
  available_before_usd: formatUsd(before.availablePicos),
  available_after_usd: formatUsd(after.availablePicos),
});
