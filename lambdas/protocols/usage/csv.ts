import type { UsageRow } from './row.ts';

const columns = [
  'id',
  'created_at',
  'outcome',
  'reason',
  'model',
  'usage',
  'prices_usd',
  'cost_usd',
  'overage',
  'end_user',
  'ignored',
] as const satisfies readonly (keyof UsageRow)[];

/** RFC 4180 with a line of names. A list is separated by commas in its cell, and an object is JSON. */
export const toCsv = (rows: readonly UsageRow[]): string =>
  [columns.join(','), ...rows.map((row) => columns.map((column) => toCell(row[column])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');

const toCell = (value: UsageRow[keyof UsageRow]): string => {
  if (value === null) return '';
  if (Array.isArray(value)) return toTextCell(value.join(','));
  return toTextCell(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

export const toTextCell = (value: string): string => {
  const text = defused(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A table program takes such a cell for a formula, and the text may come from a stranger. https://owasp.org/www-community/attacks/CSV_Injection */
const defused = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
