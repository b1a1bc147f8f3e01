import type { Terminal } from './terminal.ts';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** Facts about one thing, with the same names as in `--json`. */
export type Facts = Readonly<Record<string, Json>>;

export const printJson = (terminal: Terminal, value: unknown): Promise<boolean> =>
  terminal.print(`${toJson(value, 2)}\n`);

/**
 * Escapes control, bidirectional and other invisible characters, which could change what the terminal shows.
 * `JSON.stringify` already escapes those below U+0020.
 */
export const toJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(
    /[\u007f-\u009f\p{Cf}\u2028\u2029]/gu,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}${lowSurrogateOf(sign)}`,
  );

const lowSurrogateOf = (sign: string): string =>
  sign.length > 1 ? `\\u${sign.charCodeAt(1).toString(16).padStart(4, '0')}` : '';

/** Prints one line per fact, or JSON. */
export const printFacts = (terminal: Terminal, json: boolean, facts: Facts): Promise<boolean> => {
  if (json) return printJson(terminal, facts);
  const names = Object.keys(facts);
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `${name.padEnd(width)}  ${toCell(facts[name])}\n`);
  return terminal.print(lines.join(''));
};

/** Prints a table with some columns, or all fields as JSON. Reports an empty list on stderr. */
export const printList = async (
  terminal: Terminal,
  json: boolean,
  { rows, columns, nothing }: { rows: readonly Facts[]; columns: readonly string[]; nothing: string },
): Promise<void> => {
  if (json) await printJson(terminal, { object: 'list', data: rows });
  else if (rows.length === 0) terminal.status(nothing);
  else await terminal.print(toTable(columns, rows));
};

/** Formats a table. Numbers and amounts are right-aligned. */
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

/** Replaces control characters, because users write some of the texts and a terminal obeys such characters. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
