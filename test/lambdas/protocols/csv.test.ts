import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCsv } from '../../../bin/commands/import/csv.ts';
import { toCsvCell, toCsvTable } from '../../../lambdas/protocols/csv.ts';

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-2+3', "'-2+3"],
  ['-', "'-"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', '"\'\tx"'],
  ['\rx', '"\'\rx"'],
  ['\nx', '"\'\nx"'],
  ['\n=1+1', '"\'\n\'=1+1"'],
  ['\0x', '"\'\0x"'],
  ['\0=1+1', '"\'\0=1+1"'],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM', "'＠SUM"],
  [' =1+1', "' =1+1"],
  ['\u00a0\u3000=1+1', "'\u00a0\u3000=1+1"],
  ['\ufeff=1+1', "'\ufeff=1+1"],
  ['\u200b=1+1', "'\u200b=1+1"],
  ['a;=1+1', '"a;\'=1+1"'],
  ['a; @x', '"a;\' @x"'],
  ['a\n=1+1', '"a\n\'=1+1"'],
  ['a\t+1', '"a\t\'+1"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
])('BILL-15 the text %j is not a formula in any reader', (text, cell) => {
  expect(toCsvCell(text)).toBe(cell);
});

test.each([
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['a"b', '"a""b"'],
  ['a\nb', '"a\nb"'],
  [' a', '" a"'],
  ['a=b', 'a=b'],
  ['x@y.example', 'x@y.example'],
  ['2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.000Z'],
  ['', ''],
  [null, ''],
  [undefined, ''],
  [true, 'true'],
  [7, '7'],
  [-7, '-7'],
  ['-0.000000000001', '-0.000000000001'],
])('BILL-15 the value %j stays as it is, in one cell', (value, cell) => {
  expect(toCsvCell(value)).toBe(cell);
});

const texts = fc.string({
  unit: fc.constantFrom(...'=+-@＝＋－＠;,"\'\t\r\n\0 \u00a0ab1.'),
  minLength: 1,
  maxLength: 12,
});

test('BILL-15 no cell starts as a formula for readers that split at commas, semicolons or tabs', () => {
  const isFormula = (cell: string) =>
    /^[\s\p{Z}\p{Cc}\p{Cf}"]*[=+\-@＝＋－＠]/u.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell.trim());
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const csv = toCsvTable(['a', 'b'], [[one, other]]);
      const [, cells = []] = parseCsv(csv).map((row) => row.cells);
      expect(cells).toHaveLength(2);
      expect(cells.filter(isFormula)).toEqual([]);
      // Without its marks, each text is whole.
      expect(cells.map((cell) => cell.replaceAll("'", ''))).toEqual(
        [one, other].map((text) => text.replaceAll("'", '')),
      );
      // A reader that splits elsewhere finds the quotes inside of its cells, and does not honor them.
      for (const split of [/[;\r\n]/, /[\t\r\n]/])
        expect(csv.split(split).filter((cell) => isFormula(cell.replace(/^[^"]*,"/, ',"')))).toEqual([]);
    }),
  );
});
