import type { Command } from 'commander';
import { accountIds } from '../../lambdas/core/ledger/records.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import type { JobPosition } from '../../lambdas/core/videos/video-job.ts';
import { isEnded, type VideoJob } from '../../lambdas/core/videos/video-job.ts';
import { toTime } from '../account-facts.ts';
import { type ReadOptions, withReading } from '../command-options.ts';
import { type Facts, printList } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { addSettleCommand } from './settle-video.ts';

interface ListOptions extends ReadOptions {
  readonly account?: string;
  readonly running?: true;
}

/** Timestamp later than the next check of every job. It is finite, because DynamoDB does not store infinity. */
const END_OF_TIME_MS = Number.MAX_SAFE_INTEGER;
const PAGE = 100;
const columns = ['created_at', 'id', 'account', 'model', 'status', 'progress', 'held_usd'];

export const addVideosCommands = (program: Command, terminal: Terminal): void => {
  const videos = program.command('videos').description('list and end videos');
  withReading(videos.command('list').description('list videos, newest first'))
    .option('--account <id>', 'only videos of this account')
    .option('--running', 'only videos that have not ended')
    .action(async (options: ListOptions) => {
      const rows = await atPlace(terminal, options, (place) => listVideos(place, options));
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no videos' });
    });
  addSettleCommand(videos, terminal);
};

const listVideos = async (place: Place, options: ListOptions): Promise<readonly Facts[]> => {
  const jobs = options.running ? await running(place, options) : await all(place, options);
  return jobs.toSorted((one, other) => other.createdAtMs - one.createdAtMs).map(toRow);
};

const running = async ({ stores: { videoJobs } }: Place, { account }: ListOptions): Promise<readonly VideoJob[]> => {
  const found: VideoJob[] = [];
  for (const id of await videoJobs.due(END_OF_TIME_MS)) {
    const job = await videoJobs.read(id);
    if (job && !isEnded(job) && (account === undefined || job.accountId === account)) found.push(job);
  }
  return found;
};

const all = async (place: Place, { account }: ListOptions): Promise<readonly VideoJob[]> => {
  if (account !== undefined) return ofAccount(place, account);
  const found: VideoJob[] = [];
  for await (const id of accountIds(place.stores.records)) found.push(...(await ofAccount(place, id)));
  return found;
};

const ofAccount = async ({ stores: { videoJobs } }: Place, account: string): Promise<readonly VideoJob[]> => {
  const found: VideoJob[] = [];
  let after: JobPosition | undefined;
  for (;;) {
    const { jobs, more } = await videoJobs.list(account, { limit: PAGE, after, newestFirst: true });
    found.push(...jobs);
    after = jobs.at(-1);
    if (!more || !after) return found;
  }
};

const toRow = (job: VideoJob): Facts => ({
  id: job.id,
  account: job.accountId,
  created_at: toTime(job.createdAtMs),
  model: job.modelId,
  status: job.state,
  progress: job.state === 'completed' ? 100 : job.progress,
  seconds: job.seconds,
  size: `${job.width}x${job.height}`,
  hold: job.holdId,
  held_usd: isEnded(job) ? null : formatUsd(job.holdAmountPicos),
  upstream_id: job.upstreamId ?? null,
  error: job.failure?.code ?? null,
});
