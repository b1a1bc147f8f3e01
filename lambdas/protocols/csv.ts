import type { GatewayResponse } from '../http/exchange.ts';

export type Cell = string | number | boolean | null | undefined;

/** RFC 4180 with a header line. A cell without a value is empty. */
export const toCsvTable = (names: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [names, ...rows].map((cells) => `${cells.map(toCsvCell).join(',')}\r\n`).join('');

/** Form of the numbers and amounts that the gateway writes. No spreadsheet program runs it, also below 0. */
const NUMBER = /^-?\d+(\.\d+)?$/;

/** Characters that start a formula, with their full-width and small forms. */
const SIGNS = '[=+\\-@＝＋－＠﹦﹢﹣﹫]';

/**
 * Matches where a formula can start: at the start of a text, and after a line end or a separator of other readers, which
 * do not honor quotes inside their cells. Readers skip quotes, blanks, control characters and invisible ones before it.
 */
const FORMULA = new RegExp(`(?<=^|[;\\t\\r\\n])(?=["\\p{Z}\\p{Cc}\\p{Cf}]*${SIGNS})`, 'gu');

/**
 * Returns one cell. Spreadsheet programs run a text that looks like a formula, and a stranger may have chosen it. A `'`
 * before a formula, and before a control character at the start, makes the program show it.
 * https://owasp.org/www-community/attacks/CSV_Injection (2026-11-29)
 */
export const toCsvCell = (cell: Cell): string => {
  const value = String(cell ?? '');
  if (NUMBER.test(value)) return value;
  const marked = value.replaceAll(FORMULA, "'");
  const text = /^\p{Cc}/u.test(marked) ? `'${marked}` : marked;
  return /[",;\p{Cc}]|^\p{Z}|\p{Z}$/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Response with a CSV file. With a byte order mark, spreadsheet programs read it as UTF-8. */
export const csvFile = (
  name: string,
  table: string,
  format: 'csv' | 'csv-bom',
  headers: Readonly<Record<string, string>> = {},
): GatewayResponse => ({
  statusCode: 200,
  headers: {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${name}"`,
    ...headers,
  },
  body: format === 'csv-bom' ? `\ufeff${table}` : table,
});
