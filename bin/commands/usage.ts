import { type Command, Option } from 'commander';
import { countedDays, rebuildUsage } from '../../lambdas/core/ledger/rebuild-usage.ts';
import type { RecordRange } from '../../lambdas/core/ledger/records.ts';
import { listUsage } from '../../lambdas/core/ledger/usage.ts';
import { readUsageQuery } from '../../lambdas/protocols/account/usage-query.ts';
import { toCsv, toUsageRow, type UsageRow } from '../../lambdas/protocols/account/usage-row.ts';
import { readAccount } from '../account-facts.ts';
import {
  type ReadOptions,
  toLimit,
  type WriteOptions,
  withPlace,
  withReading,
  withWriting,
} from '../command-options.ts';
import { misused } from '../exit.ts';
import { openNewFile } from '../new-file.ts';
import { plain, printFacts, printList, toJson } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';

interface RangeOptions extends ReadOptions {
  readonly from?: string;
  readonly to?: string;
}

interface ListOptions extends RangeOptions {
  readonly limit: number;
}

interface ExportOptions extends RangeOptions {
  readonly format?: 'csv' | 'json';
  readonly out?: string;
}

const columns = ['created_at', 'id', 'outcome', 'model', 'cost_usd', 'reason'];
const PAGE = 1_000;

export const addUsageCommands = (program: Command, terminal: Terminal): void => {
  const usage = program
    .command('usage')
    .description('list, export and sum the cost of requests, as GET /api/usage returns it');
  withRange(withReading(usage.command('list <account>').description('list the latest requests, newest first')))
    .option('--limit <count>', 'maximum number of requests', toLimit, 100)
    .action(async (accountId: string, options: ListOptions) => {
      const rows = await atPlace(terminal, options, async (place) => {
        await readAccount(place, accountId);
        const { records } = await listUsage(place.stores.records, accountId, {
          ...toRange(options),
          limit: options.limit,
        });
        return records.map((record) => ({ ...toUsageRow(record) }));
      });
      await printList(terminal, options.json === true, { rows, columns, nothing: 'no requests' });
    });
  withRange(withPlace(usage.command('export <account>').description('export all requests, to stdout or a new file')))
    .addOption(new Option('--format <format>', 'csv (default) or json').choices(['csv', 'json']))
    .option('--json', 'the same as --format json')
    .option('--out <file>', 'new file to write; default: stdout')
    .action(async (accountId: string, options: ExportOptions) => {
      if (options.json && options.format === 'csv')
        throw misused('--json and --format csv are mutually exclusive. Use one of them.');
      const range = toRange(options);
      await atPlace(terminal, options, (place) => exportUsage(place, terminal, accountId, options, range));
    });
  withWriting(
    usage
      .command('rebuild <account>')
      .description('count the stored sums of usage summaries and of API keys again, from the charge records'),
  ).action(async (accountId: string, options: WriteOptions) => {
    const facts = await atPlace(terminal, options, (place) => rebuild(place, terminal, accountId, options));
    await printFacts(terminal, options.json === true, facts);
  });
};

const rebuild = async (place: Place, terminal: Terminal, accountId: string, options: WriteOptions) => {
  await readAccount(place, accountId);
  const deps = { ...steady, store: place.stores.ledger, records: place.stores.records };
  const { length: days } = await countedDays(deps, accountId);
  if (options.dryRun) {
    printDryRun(terminal);
    return { account: accountId, days, changed: null };
  }
  await confirmWrite(
    terminal,
    options,
    `Count the usage sums of ${days} days and of the API keys of ${accountId} again?`,
  );
  return { account: accountId, days, changed: await rebuildUsage(deps, accountId) };
};

const withRange = (command: Command): Command =>
  command
    .option('--from <time>', 'start, included: a UTC day such as 2026-11-20, or a time such as 2026-11-20T08:00:00Z')
    .option('--to <time>', 'end: a UTC day, included, or a time, excluded');

/** Parses the range. Throws a GatewayError that names the invalid option. */
const toRange = ({ from, to }: RangeOptions): RecordRange => readUsageQuery({ from, to }).range;

const exportUsage = async (
  place: Place,
  terminal: Terminal,
  accountId: string,
  { format: named, json, out }: ExportOptions,
  range: RecordRange,
): Promise<void> => {
  const format = json ? 'json' : named;
  await readAccount(place, accountId);
  const file = out === undefined ? undefined : await openNewFile(out);
  // A file keeps every character for programs. Output to a terminal must not contain control characters.
  const write = (text: string): Promise<boolean> =>
    file ? file.write(text).then(() => true) : terminal.print(shown(format, text));
  try {
    let count = 0;
    for await (const rows of pages(place, accountId, range)) {
      // Stop if the reader of stdout has left.
      if (!(await write(format === 'json' ? toJsonPart(rows, count) : toCsvPart(rows, count)))) return;
      count += rows.length;
      terminal.status(`${count} requests`);
    }
    if (format === 'json') await write(count === 0 ? '[]\n' : '\n]\n');
    await file?.finish();
  } catch (error) {
    await file?.discard();
    throw error;
  }
};

/** Yields at least one page, which may be empty. */
async function* pages(
  { stores }: Place,
  accountId: string,
  range: RecordRange,
): AsyncGenerator<readonly UsageRow[], void> {
  let { beforeHoldId } = range;
  do {
    const page = await listUsage(stores.records, accountId, { ...range, beforeHoldId, limit: PAGE });
    yield page.records.map(toUsageRow);
    beforeHoldId = page.nextHoldId;
  } while (beforeHoldId !== undefined);
}

const shown = (format: string | undefined, text: string): string =>
  format === 'json' ? text : text.split('\r\n').map(plain).join('\r\n');

const names = toCsv([]);

const toCsvPart = (rows: readonly UsageRow[], before: number): string =>
  before === 0 ? toCsv(rows) : toCsv(rows).slice(names.length);

const toJsonPart = (rows: readonly UsageRow[], before: number): string =>
  rows.map((row, at) => `${before + at === 0 ? '[\n' : ',\n'}${toJson(row)}`).join('');
