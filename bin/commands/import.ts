import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { forEachConcurrent } from '../../lambdas/core/concurrency.ts';
import { formatUsd } from '../../lambdas/core/money/usd.ts';
import { toTextCell } from '../../lambdas/protocols/account/usage-row.ts';
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
        'open accounts with keys and credit balances, from a CSV file: account,balance_usd and maybe chat_id',
      ),
  )
    .requiredOption(
      '--ref <batch>',
      'the name of this import; repeated under it, only what is missing is done',
      toBatch,
    )
    .option(
      '--keys-out <file>',
      'a file for the keys of new accounts, made for this user alone; the same one for a repeat',
    )
    .option('--report <file>', 'a new CSV file for refused rows, in place of stdout')
    .option('--skip-refused', 'import the good rows though others are refused')
    .action(async (path: string, options: ImportOptions) => {
      const bytes = await readFile(path).catch((error: unknown) => {
        throw failed(`${path} cannot be read: ${whyOf(error)}`, error);
      });
      await atPlace(terminal, options, (place) => runImport(place, terminal, bytes, options));
    });
};

const toBatch = (text: string): string => {
  if (/^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('It has 1 to 64 letters, digits and . _ -, and begins with a letter or digit.');
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
    terminal.status(`rows refused: ${refused.length}`);
    await reportRefused(terminal, plan, options);
    if (!options.skipRefused)
      throw new CliError(exits.refused, 'Nothing was imported. --skip-refused imports the others.');
  }
  const todo = rows.filter(({ isDone }) => !isDone);
  terminal.status(
    `${rows.length} rows: ${opening} accounts to open, ${sumOf(todo)} USD to credit, ${rows.length - todo.length} rows done before`,
  );
  if (opening > 0 && options.keysOut === undefined) {
    throw misused('There are accounts to open: add --keys-out, a file for their keys.');
  }
  if (options.dryRun) {
    printDryRun(terminal);
    return print(terminal, options, plan, new Map());
  }
  if (todo.length > 0) await confirmWrite(terminal, options, `Import ${todo.length} rows under ${options.ref}?`);
  await print(terminal, options, plan, await importRows(place, terminal, todo, options));
};

const makePlan = async (place: Place, terminal: Terminal, bytes: Uint8Array, { ref }: ImportOptions): Promise<Plan> => {
  const read = readRows(bytes);
  const { ledger, records, accounts } = place.stores;
  const rows: PlannedRow[] = [];
  const refused = [...read.refused];
  const progress = createProgress(terminal, 'looked at', read.rows.length);
  await forEachConcurrent(read.rows, async (row) => {
    const planned = await planRow({ ledger, records, accounts }, ref, row);
    if ('reason' in planned) refused.push(planned);
    else rows.push(planned);
    progress();
  });
  const byLine = (one: { line: number }, other: { line: number }): number => one.line - other.line;
  return { rows: rows.toSorted(byLine), refused: refused.toSorted(byLine) };
};

/** A line now and then. */
const createProgress = (terminal: Terminal, verb: string, total: number): (() => void) => {
  const step = Math.max(100, Math.ceil(total / 20));
  let done = 0;
  return () => {
    done += 1;
    if (done % step === 0 || done === total) terminal.status(`${verb} ${done} of ${total}`);
  };
};

/** Answers the balances afterwards, by account. */
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
      // What is under way is brought to its end before the import gives up.
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
    if (stale.length > 0) terminal.status(`These keys of ${keysOut} were replaced since: ${stale.join(', ')}`);
    return after;
  } catch (error) {
    terminal.status(
      `${after.size} of ${rows.length} rows are imported. Run the same import again: what is done stays as it is.`,
    );
    throw error;
  } finally {
    file?.close();
  }
};

const refusedColumns = ['line', 'account', 'reason'];

/** With `--json`, rows that are refused are part of the result, which is then all there is. */
const reportRefused = async (terminal: Terminal, plan: Plan, options: ImportOptions): Promise<void> => {
  const refused: readonly Facts[] = plan.refused.map((row) => ({ ...row }));
  if (options.report !== undefined) await writeReport(options.report, plan);
  if (options.skipRefused) {
    if (options.report === undefined && !options.json) terminal.status(toTable(refusedColumns, refused).trimEnd());
  } else if (options.json) await printJson(terminal, toResult(options, { rows: [], refused: plan.refused }, new Map()));
  else if (options.report === undefined) await terminal.print(toTable(refusedColumns, refused));
};

/** What a dry run or an earlier try of the same import has reported may stay. */
const writeReport = async (path: string, { refused }: Plan): Promise<void> => {
  const lines = refused.map(
    ({ line, account, reason }) => `${line},${toTextCell(account ?? '')},${toTextCell(reason)}`,
  );
  const text = [refusedColumns.join(','), ...lines].map((line) => `${line}\r\n`).join('');
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
