export interface CsvRow {
  /** Line on which the row starts, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export class CsvError extends Error {
  override readonly name = 'CsvError';
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Matches a cell, with or without quotes, and its separator. Sticky, so that it skips no text. */
const cellForm = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Parses RFC 4180 with LF or CRLF line ends. Skips empty lines. Throws a CsvError. */
export const parseCsv = (text: string): readonly CsvRow[] => {
  const rows: CsvRow[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let row: { line: number; cells: string[] } = { line, cells: [] };
  while (at < text.length || row.cells.length > 0) {
    cellForm.lastIndex = at;
    const match = cellForm.exec(text);
    if (!match) throw new CsvError(line, 'a quote or line end is in the wrong place. Check the quotes of this row');
    const [whole, quoted, bare = '', end] = match;
    row.cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    at += whole.length;
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row);
    row = { line, cells: [] };
  }
  return rows;
};
