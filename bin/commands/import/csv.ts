export interface CsvRow {
  /** Where it begins, from 1. */
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

/** A cell with or without quotes, and what ends it. Sticky, so that nothing is passed over. */
const cellForm = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** RFC 4180, with either kind of line end. Empty lines are no rows. Throws a CsvError. */
export const parseCsv = (text: string): readonly CsvRow[] => {
  const rows: CsvRow[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  let line = 1;
  let row: { line: number; cells: string[] } = { line, cells: [] };
  while (at < text.length || row.cells.length > 0) {
    cellForm.lastIndex = at;
    const match = cellForm.exec(text);
    if (!match) throw new CsvError(line, 'has a quote or a line end in the wrong place');
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
