import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { forEachConcurrent } from '../../lambdas/core/concurrency.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { toCsvTable } from '../../lambdas/protocols/csv.ts';
import { type ReasonOptions, withReason } from '../command-options.ts';
import { CliError, exits, failed, misused, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import { writeNewFile } from '../new-file.ts';
import { type Facts, printJson, toTable } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';
import { confirmWrite, printDryRun } from '../writes.ts';
import { openKeyFile } from './import/key-file.ts';
import { type PlannedRow, planRow } from './import/plan.ts';
import { type RefusedRow, readRows, sumOf } from './import/rows.ts';
import { type ImportDependencies, importRow, staleKeys } from './import/run.ts';

interface ImportOptions extends ReasonOptions {
  readonly ref: string;
  readonly keysOut?: string;
  readonly report?: string;
  readonly skipRefused?: true;
}

interface Plan {
  readonly rows: readonly PlannedRow[];
  readonly refused: readonly RefusedRow[];
}

export const addImportCommand = (program: Command, terminal: Terminal): void => {
  withReason(
    program
      .command('import <file>')
      .description(
        'open accounts with API keys and credit balances, from a CSV file with the columns account, balance_usd and optionally chat_id',
      ),
  )
    .requiredOption('--ref <batch>', 'unique name of this import; repeating it does only what is missing', toBatch)
    .option(
      '--keys-out <file>',
      'file for the API keys of new accounts, readable by this user only; use the same file for a repeat',
    )
    .option('--report <file>', 'new CSV file for the rejected rows; default: stdout')
    .option('--skip-refused', 'import the valid rows although others are rejected')
    .action(async (path: string, options: ImportOptions) => {
      const bytes = await readFile(path).catch((error: unknown) => {
        throw failed(`${path}: cannot be read: ${whyOf(error)}`, error);
      });
      await atPlace(terminal, options, (place) => runImport(place, terminal, bytes, options));
    });
};

const toBatch = (text: string): string => {
  if (/^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('Must be 1 to 64 letters, digits and . _ -, and start with a letter or digit.');
};

const runImport = async (
  place: Place,
  terminal: Terminal,
  bytes: Uint8Array,
  options: ImportOptions,
): Promise<void> => {
  const plan = await makePlan(place, terminal, bytes, options);
  const { rows, refused } = plan;
  const opening = rows.filter(({ opens }) => opens).length;
  if (refused.length > 0) {
    terminal.status(`rows rejected: ${refused.length}`);
    await reportRefused(terminal, plan, options);
    if (!options.skipRefused)
      throw new CliError(
        exits.refused,
        'Nothing was imported. Correct the rejected rows, or use --skip-refused to import the others.',
      );
  }
  const todo = rows.filter(({ isDone }) => !isDone);
  terminal.status(
    `${rows.length} rows: ${opening} accounts to open, ${sumOf(todo)} USD to credit, ${rows.length - todo.length} rows already imported`,
  );
  if (opening > 0 && options.keysOut === undefined) {
    throw misused('--keys-out: required, because this import opens accounts. Name a file for their API keys.');
  }
  if (options.dryRun) {
    printDryRun(terminal);
    return print(terminal, options, plan, new Map());
  }
  if (todo.length > 0) await confirmWrite(terminal, options, `Import ${todo.length} rows with --ref ${options.ref}?`);
  await print(terminal, options, plan, await importRows(place, terminal, todo, options));
};

const makePlan = async (place: Place, terminal: Terminal, bytes: Uint8Array, { ref }: ImportOptions): Promise<Plan> => {
  const read = readRows(bytes);
  const { ledger, records, accounts } = place.stores;
  const rows: PlannedRow[] = [];
  const refused = [...read.refused];
  const progress = createProgress(terminal, 'checked', read.rows.length);
  await forEachConcurrent(read.rows, async (row) => {
    const planned = await planRow({ ledger, records, accounts }, ref, row);
    if ('reason' in planned) refused.push(planned);
    else rows.push(planned);
    progress();
  });
  const byLine = (one: { line: number }, other: { line: number }): number => one.line - other.line;
  return { rows: rows.toSorted(byLine), refused: refused.toSorted(byLine) };
};

/**
 * Returns a function to call after each row. It prints a status line after every 5 % of the rows, but not more often
 * than every 100 rows, and after the last row.
 */
const createProgress = (terminal: Terminal, verb: string, total: number): (() => void) => {
  const step = Math.max(100, Math.ceil(total / 20));
  let done = 0;
  return () => {
    done += 1;
    if (done % step === 0 || done === total) terminal.status(`${verb} ${done} of ${total}`);
  };
};

/** Returns the balance of each imported account in pico-USD. Throws the first error. */
const importRows = async (
  place: Place,
  terminal: Terminal,
  rows: readonly PlannedRow[],
  { ref, reason, keysOut }: ImportOptions,
): Promise<ReadonlyMap<string, bigint>> => {
  const after = new Map<string, bigint>();
  const file = keysOut === undefined ? undefined : openKeyFile(keysOut, ref);
  const { ledger, accounts, keys: keyStore } = place.stores;
  const progress = createProgress(terminal, 'imported', rows.length);
  try {
    const keys = file && { ...(await openKeyDependencies(place)), file };
    const deps: ImportDependencies = { ledger, accounts, keyStore, ...steady, keys };
    let failure: unknown;
    await forEachConcurrent(rows, async (row) => {
      // After a failure, start no more rows but finish those in progress.
      if (failure !== undefined) return;
      try {
        after.set(row.account, await importRow(deps, { ref, reason }, row));
        progress();
      } catch (error) {
        failure = error;
      }
    });
    if (failure !== undefined) throw failure;
    const stale = await staleKeys(deps);
    if (stale.length > 0)
      terminal.status(`Keys in ${keysOut} that were replaced or revoked since: ${stale.join(', ')}`);
    return after;
  } catch (error) {
    terminal.status(
      `${after.size} of ${rows.length} rows are imported. Run the same import again: it imports only the missing rows.`,
    );
    throw error;
  } finally {
    file?.close();
  }
};

const refusedColumns = ['line', 'account', 'reason'];

/** Reports the rejected rows. With `--json`, an import that stops here prints them as its whole result. */
const reportRefused = async (terminal: Terminal, plan: Plan, options: ImportOptions): Promise<void> => {
  const refused: readonly Facts[] = plan.refused.map((row) => ({ ...row }));
  if (options.report !== undefined) await writeReport(options.report, plan);
  if (options.skipRefused) {
    if (options.report === undefined && !options.json) terminal.status(toTable(refusedColumns, refused).trimEnd());
  } else if (options.json) await printJson(terminal, toResult(options, { rows: [], refused: plan.refused }, new Map()));
  else if (options.report === undefined) await terminal.print(toTable(refusedColumns, refused));
};

/** Writes the report. An existing file with the same content, from a dry run or an earlier run, is kept. */
const writeReport = async (path: string, { refused }: Plan): Promise<void> => {
  const text = toCsvTable(
    refusedColumns,
    refused.map(({ line, account, reason }) => [line, account, reason]),
  );
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  await writeNewFile(path, text);
};

const columns = ['account', 'opened', 'credited_usd', 'balance_before_usd', 'balance_after_usd'];

const print = async (
  terminal: Terminal,
  options: ImportOptions,
  plan: Plan,
  after: ReadonlyMap<string, bigint>,
): Promise<void> => {
  const result = toResult(options, plan, after);
  if (options.json) await printJson(terminal, result);
  else if (result.data.length > 0) await terminal.print(toTable(columns, result.data));
};

const toResult = ({ ref, dryRun }: ImportOptions, { rows, refused }: Plan, after: ReadonlyMap<string, bigint>) => ({
  batch: ref,
  dry_run: dryRun === true,
  refused,
  data: rows.map(({ account, opens, isDone, balancePicos, balanceBeforePicos }) => {
    const expected = isDone ? balanceBeforePicos : balanceBeforePicos + balancePicos;
    return {
      account,
      opened: opens,
      repeated: isDone,
      credited_usd: formatUsd(isDone ? 0n : balancePicos),
      balance_before_usd: formatUsd(balanceBeforePicos),
      balance_after_usd: formatUsd(after.get(account) ?? expected),
    };
  }),
});
