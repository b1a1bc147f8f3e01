import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsvError, parseCsv } from '../../../../bin/commands/import/csv.ts';
import { randomRuns } from '../../../support/random-runs.ts';

test.each<readonly [string, string, readonly (readonly [number, ...string[]])[]]>([
  [
    'plain rows',
    'a,b\n1,2\n',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  [
    'CRLF, a BOM and no line end at the end',
    '\uFEFFa,b\r\n1,2',
    [
      [1, 'a', 'b'],
      [2, '1', '2'],
    ],
  ],
  ['quotes', '"a ""b"", c",\n', [[1, 'a "b", c', '']]],
  [
    'a line end inside a cell',
    '"a\r\nb",c\nd',
    [
      [1, 'a\r\nb', 'c'],
      [3, 'd'],
    ],
  ],
  [
    'empty lines and empty cells',
    '\n\r\na,,\n\n,b\n',
    [
      [3, 'a', '', ''],
      [5, '', 'b'],
    ],
  ],
  ['an empty cell in quotes at the end', 'a,""', [[1, 'a', '']]],
  ['a comma at the end', 'a,', [[1, 'a', '']]],
  ['nothing', '', []],
])('OPS-5 CSV: the parser reads %s', (_, text, expected) => {
  expect(parseCsv(text).map(({ line, cells }) => [line, ...cells])).toEqual(expected);
});

test.each([
  ['a quote inside a bare cell', 'a\nb"c,d', 2],
  ['text after a quoted cell', '"a"b,c', 1],
  ['a quote that never ends', 'a\n"b\nc', 2],
  ['a lone carriage return', 'a\rb', 1],
])('OPS-5 CSV: %s is rejected with its line', (_, text, line) => {
  const parse = () => parseCsv(text);
  expect(parse).toThrow(CsvError);
  expect(parse).toThrow(expect.objectContaining({ line }));
});

test('OPS-5 CSV: the parser returns every row that was written according to RFC 4180', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'ü') });
  const row = fc.array(cell, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(row), fc.constantFrom('\n', '\r\n'), (rows, end) => {
      const quoted = rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
      expect(parseCsv(quoted.map((line) => `${line}${end}`).join('')).map(({ cells }) => cells)).toEqual(rows);
    }),
    randomRuns(import.meta.filename, { quick: 100, long: 2_000 }),
  );
});
