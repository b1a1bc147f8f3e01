import type { Command } from 'commander';
import { type Replayed, type ReplayOutcome, replayOutbox } from '../../lambdas/core/ledger/replay.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { type WriteOptions, withWriting } from '../command-options.ts';
import { misused, refused } from '../exit.ts';
import { type Facts, printList } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface ReplayOptions extends WriteOptions {
  /** ISO 8601 with a time zone. */
  readonly since: string;
}

/** Clocks of S3 and DynamoDB can differ. An entry that is listed needlessly is `recorded`, and nothing happens to it. */
const MARGIN_MS = 5 * 60_000;

const columns = ['outcome', 'account', 'hold', 'amount_usd', 'at'];

export const addOutboxCommands = (program: Command, terminal: Terminal): void => {
  const outbox = program.command('outbox').description('charges that wait for the accounts table');
  withWriting(
    outbox
      .command('replay')
      .description('after a restore: put removed entries back whose hold is open again in the restored table'),
  )
    .requiredOption('--since <time>', 'time to which the accounts table was restored, such as 2026-11-20T12:00:00Z')
    .option('--table <name>', 'restored accounts table (ACCOUNTS_TABLE); default: that of the gateway')
    .action(async (options: ReplayOptions) => {
      const sinceMs = toTime(options.since) - MARGIN_MS;
      const replayed = await atPlace(terminal, options, (place) => replay(place, terminal, options, sinceMs));
      const rows = replayed.map(toRow);
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no entries since then' });
      terminal.status(summaryOf(replayed));
    });
};

const replay = async (
  { stores: { ledger, outbox, outboxHistory }, where }: Place,
  terminal: Terminal,
  options: ReplayOptions,
  sinceMs: number,
): Promise<readonly Replayed[]> => {
  if (!outboxHistory)
    throw refused(`${where}: keeps no removed outbox entries. Use a gateway with a versioned bucket.`);
  if (options.dryRun) printDryRun(terminal);
  else await confirmWrite(terminal, options, `Replay outbox entries on the ${where}? Its workers must be paused.`);
  const deps = { ...steady, store: ledger, outbox };
  return Array.fromAsync(replayOutbox(deps, outboxHistory, { sinceMs, isDryRun: options.dryRun === true }));
};

const toRow = ({ outcome, entry: { record } }: Replayed): Facts => ({
  outcome,
  account: record.accountId,
  hold: record.holdId,
  amount_usd: formatUsd(record.amountPicos),
  at: new Date(record.at).toISOString(),
});

const summaryOf = (replayed: readonly Replayed[]): string => {
  const sum = (wanted: ReplayOutcome): string => {
    const found = replayed.filter(({ outcome }) => outcome === wanted);
    const picos = found.reduce((total, { entry }) => total + entry.record.amountPicos, 0n);
    return `${found.length} ${wanted} (${formatUsd(picos)} USD)`;
  };
  return [sum('replayed'), sum('recorded'), sum('lost')].join(', ');
};

const toTime = (text: string): number => {
  const ms = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw misused('--since: must be a time with its zone, such as 2026-11-20T12:00:00Z.');
  return ms;
};
