import { type Command, InvalidArgumentError } from 'commander';
import { isMonth } from '../../lambdas/core/ledger/month.ts';
import { readStatement } from '../../lambdas/core/ledger/statement.ts';
import {
  type StatementObject,
  statementOf,
  toStatementCsv,
  toStatementObject,
} from '../../lambdas/protocols/account/statement-object.ts';
import { readAccount } from '../account-facts.ts';
import { type ReadOptions, withReading } from '../command-options.ts';
import { misused } from '../exit.ts';
import { type Facts, plain, printJson, toTable } from '../output.ts';
import { atPlace, type Place } from '../place.ts';
import type { Terminal } from '../terminal.ts';
import { steady } from '../with-retries.ts';

interface StatementOptions extends ReadOptions {
  readonly csv?: true;
}

export const addStatementCommand = (accounts: Command, terminal: Terminal): void => {
  withReading(
    accounts
      .command('statement <account>')
      .argument('<month>', 'calendar month in UTC, such as 2026-11', toMonth)
      .description(
        'show the statement of one month, as GET /api/statements/{month} returns it; closes months that are over',
      ),
  )
    .option('--csv', 'print the statement as CSV')
    .action(async (accountId: string, month: string, options: StatementOptions) => {
      if (options.json && options.csv) throw misused('--json and --csv are mutually exclusive. Use one of them.');
      const statement = await atPlace(terminal, options, (place) => read(place, accountId, month));
      await printStatement(terminal, statement, options);
    });
};

/** Prints a statement as text, JSON or CSV. Reports on stderr if its charges are not complete. */
export const printStatement = async (
  terminal: Terminal,
  statement: StatementObject,
  { json, csv }: StatementOptions,
): Promise<void> => {
  if (json) await printJson(terminal, statement);
  else if (csv) await terminal.print(toStatementCsv(statement).split('\r\n').map(plain).join('\r\n'));
  else await terminal.print(toText(statement));
  if (!statement.charges_complete) terminal.status(incompleteOf(statement));
};

const toMonth = (text: string): string => {
  if (isMonth(text)) return text;
  throw new InvalidArgumentError('Must be a month such as 2026-11.');
};

const read = async (place: Place, accountId: string, month: string): Promise<StatementObject> => {
  await readAccount(place, accountId);
  const deps = { ...steady, store: place.stores.ledger, records: place.stores.records };
  return toStatementObject(statementOf(await readStatement(deps, accountId, month), month));
};

const incompleteOf = ({ status }: StatementObject): string =>
  status === 'open'
    ? 'charges: this month has too many receipts for one read, so only the newest are listed. charges_usd is exact.'
    : 'charges: not all receipts of the month are summed yet. Run the command again to add more. charges_usd is exact.';

const toText = ({ object: _object, credits, returns, charges, ...sums }: StatementObject): string => {
  const width = Math.max(...Object.keys(sums).map((name) => name.length));
  const lines = Object.entries(sums).map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}\n`);
  const part = (title: string, rows: readonly Facts[]): string =>
    rows[0] ? `\n${title}\n${toTable(Object.keys(rows[0]), rows)}` : '';
  return lines.join('') + part('credits', credits) + part('returns', returns) + part('charges', charges);
};
