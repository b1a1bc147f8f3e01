import { isAccountId } from '../../../lambdas/core/accounts/account-store.ts';
import { isCheckAccount } from '../../../lambdas/core/accounts/check-account.ts';
import { formatUsd, parseUsd } from '../../../lambdas/core/money/usd.ts';
import { accountIdRule, checkIdRule } from '../../command-options.ts';
import { CsvError, type CsvRow, parseCsv } from './csv.ts';

export interface ImportRow {
  readonly line: number;
  readonly account: string;
  /** Amount to credit in pico-USD, 0 or more. */
  readonly balancePicos: bigint;
  readonly chatId: string | undefined;
}

export interface RefusedRow {
  readonly line: number;
  readonly account: string | null;
  readonly reason: string;
}

export interface ReadRows {
  readonly rows: readonly ImportRow[];
  readonly refused: readonly RefusedRow[];
}

const columns = ['account', 'balance_usd', 'chat_id'] as const;
type Column = (typeof columns)[number];
type Named = Readonly<Partial<Record<Column, string>>>;

/** Parses and checks the file without the stores. An unreadable file becomes one rejected row. */
export const readRows = (bytes: Uint8Array): ReadRows => {
  try {
    const [head, ...body] = parseCsv(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const names = readHead(head);
    const checked = body.map((row) => checkRow(row, names));
    const refused = checked.filter((row) => 'reason' in row);
    const rows = checked.filter((row) => 'balancePicos' in row);
    const twice = [...repeats(rows, 'account'), ...repeats(rows, 'chatId')];
    const lines = new Set(twice.map(({ line }) => line));
    return {
      rows: rows.filter(({ line }) => !lines.has(line)),
      refused: [...refused, ...twice].toSorted((one, other) => one.line - other.line),
    };
  } catch (error) {
    if (error instanceof CsvError) return { rows: [], refused: [refuse(error.line, null, error.message)] };
    if (error instanceof TypeError)
      return { rows: [], refused: [refuse(1, null, 'the file is not UTF-8. Save it as UTF-8')] };
    throw error;
  }
};

const refuse = (line: number, account: string | null, reason: string): RefusedRow => ({ line, account, reason });

const isColumn = (name: string): name is Column => columns.some((column) => column === name);

const readHead = (head: CsvRow | undefined): readonly Column[] => {
  const names = head?.cells ?? [];
  const known = names.filter(isColumn);
  const isWhole = known.includes('account') && known.includes('balance_usd');
  if (isWhole && known.length === names.length && new Set(names).size === names.length) return known;
  throw new CsvError(1, 'the first line must name the columns account, balance_usd and optionally chat_id');
};

const checkRow = ({ line, cells }: CsvRow, names: readonly Column[]): ImportRow | RefusedRow => {
  const named: Named = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
  const { account = '', balance_usd: balance = '', chat_id: chat = '' } = named;
  if (cells.length !== names.length) {
    return refuse(line, account || null, `has ${cells.length} cells instead of the ${names.length} of the first line`);
  }
  if (!isAccountId(account)) return refuse(line, account || null, `account: ${accountIdRule}`);
  if (isCheckAccount(account)) return refuse(line, account, `account: ${checkIdRule}`);
  const balancePicos = toBalance(balance);
  if (balancePicos === undefined) {
    return refuse(line, account, 'balance_usd: must be a decimal amount such as 0 or 2.50, with at most 12 decimals');
  }
  if (chat !== '' && !isChatId(chat))
    return refuse(line, account, 'chat_id: must be the id of a private chat, a whole number above 0');
  return { line, account, balancePicos, chatId: chat || undefined };
};

const toBalance = (text: string): bigint | undefined => {
  try {
    const picos = parseUsd(text);
    return picos < 0n ? undefined : picos;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
};

const isChatId = (text: string): boolean => /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));

/** Rejects every row whose value occurs more than once, because it is unclear which row is meant. */
const repeats = (rows: readonly ImportRow[], name: 'account' | 'chatId'): readonly RefusedRow[] => {
  const lines = new Map<string, number[]>();
  for (const row of rows) {
    const value = row[name];
    if (value !== undefined) lines.set(value, [...(lines.get(value) ?? []), row.line]);
  }
  const column = name === 'account' ? 'account' : 'chat_id';
  return rows.flatMap((row) => {
    const found = lines.get(row[name] ?? '') ?? [];
    if (found.length < 2) return [];
    return [refuse(row.line, row.account, `${column}: repeated in lines ${found.join(', ')}. Keep one of them`)];
  });
};

export const sumOf = (rows: readonly ImportRow[]): string =>
  formatUsd(rows.reduce((sum, { balancePicos }) => sum + balancePicos, 0n));
