import type { Terminal } from './terminal.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** One thing, by the names that `--json` has as well. */
export type Facts = Readonly<Record<string, Json>>;

export const printJson = (terminal: Terminal, value: unknown): Promise<boolean> =>
  terminal.print(`${toJson(value, 2)}\n`);

/** The same JSON without characters that a terminal obeys or that turn the line around; those below a blank are escaped anyway. */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    /[\u007f-\u009f\p{Cf}\u2028\u2029]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}${lowSurrogateOf(sign)}`,
  );

const lowSurrogateOf = (sign: string): string =>
  sign.length > 1 ? `\\u${sign.charCodeAt(1).toString(16).padStart(4, '0')}` : '';

/** A line per fact, or the same as JSON. */
export const printFacts = (terminal: Terminal, json: boolean, facts: Facts): Promise<boolean> => {
  if (json) return printJson(terminal, facts);
  const names = Object.keys(facts);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `${name.padEnd(width)}  ${toCell(facts[name])}\n`);
  return terminal.print(lines.join(''));
};

/** A table of some columns; `--json` has all of what each row knows. Nothing at all is said on stderr. */
export const printList = async (
  terminal: Terminal,
  json: boolean,
  { rows, columns, nothing }: { rows: readonly Facts[]; columns: readonly string[]; nothing: string },
): Promise<void> => {
  if (json) await printJson(terminal, { object: 'list', data: rows });
  else if (rows.length === 0) terminal.status(nothing);
  else await terminal.print(toTable(columns, rows));
};

/** Numbers and amounts stand at the right of their column. */
export const toTable = (columns: readonly string[], rows: readonly Facts[]): string => {
  const cells = rows.map((row) => columns.map((column) => toCell(row[column])));
  const widths = columns.map((column, at) =>
    cells.reduce((width, line) => Math.max(width, line[at]?.length ?? 0), column.length),
  );
  const isRight = columns.map(
    (column) => column.endsWith('_usd') || rows.some((row) => typeof row[column] === 'number'),
  );
  const toLine = (line: readonly string[]): string =>
    line.map((cell, at) => (isRight[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join('  ');
  return [columns, ...cells].map((line) => `${toLine(line).trimEnd()}\n`).join('');
};

const toCell = (value: Json | undefined): string => {
  if (value === null || value === undefined) return '-';
  return plain(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

/** Some texts come from strangers, and a terminal obeys control characters. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
