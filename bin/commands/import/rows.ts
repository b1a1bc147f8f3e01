import { isAccountId } from '../../../lambdas/core/accounts/account-store.ts';
import { formatUsd, parseUsd } from '../../../lambdas/core/money/usd.ts';
import { accountIdRule } from '../../command-options.ts';
import { CsvError, type CsvRow, parseCsv } from './csv.ts';

export interface ImportRow {
  readonly line: number;
  readonly account: string;
  /** Pico-USD. */
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

/** Everything that can be said of the file by itself. A file that is none as a whole is one refused row. */
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
    if (error instanceof TypeError) return { rows: [], refused: [refuse(1, null, 'the file is not UTF-8')] };
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
  throw new CsvError(
    1,
    'the first line has to name the columns: account,balance_usd and, where there are chats, chat_id',
  );
};

const checkRow = ({ line, cells }: CsvRow, names: readonly Column[]): ImportRow | RefusedRow => {
  const named: Named = Object.fromEntries(names.map((name, at) => [name, cells[at]]));
  const { account = '', balance_usd: balance = '', chat_id: chat = '' } = named;
  if (cells.length !== names.length) {
    return refuse(line, account || null, `has ${cells.length} cells, where the first line has ${names.length}`);
  }
  if (!isAccountId(account)) return refuse(line, account || null, `account: ${accountIdRule}`);
  const balancePicos = toBalance(balance);
  if (balancePicos === undefined) {
    return refuse(line, account, 'balance_usd: is no decimal amount such as 0 or 2.50, with 12 decimals at most');
  }
  if (chat !== '' && !isChatId(chat))
    return refuse(line, account, 'chat_id: is no id of a private chat, a whole number above 0');
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

/** Which of two rows is meant, nobody can tell: the second one is told, and the first one does not count either. */
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
    return [refuse(row.line, row.account, `${column}: stands in the lines ${found.join(', ')}`)];
  });
};

export const sumOf = (rows: readonly ImportRow[]): string =>
  formatUsd(rows.reduce((sum, { balancePicos }) => sum + balancePicos, 0n));
