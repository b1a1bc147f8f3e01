import { expect, test } from 'vitest';
import { readSource } from '../architecture/read-imports.ts';
import { linksIn } from './markdown.ts';

const PAGE = 'docs/operations/verified.md';

/** Words of the second column, each with its meaning, and the rows of all other tables. */
const [words = [], ...tables] = readSource(PAGE)
  .split(/\n\n/)
  .filter((block) => block.startsWith('|'))
  .map((table) =>
    table
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''))),
  );
const rows = tables.flat();

test('every statement names its verification, and a test, a page or a command', () => {
  expect(rows.length).toBeGreaterThan(35);
  for (const cells of rows) {
    expect(cells, cells[0]).toHaveLength(3);
    const [, , where = ''] = cells;
    expect(linksIn(where).length > 0 || where.startsWith('`'), cells[0]).toBe(true);
  }
});

test('a statement that rests on a document links it, and every other one links a file or a page', () => {
  for (const [statement, by = '', where = ''] of rows) {
    const links = linksIn(where);
    const external = links.filter((link) => link.startsWith('https://'));
    // Pages of this repository list the sources of prices and quotas.
    if (by.startsWith('document'))
      expect(external.length > 0 || links.every((link) => link.includes('.md')), statement).toBe(true);
    else expect(external.length < links.length || where.startsWith('`'), statement).toBe(true);
  }
});

test('every word of the list is used, and the README links the page in its section on deployment', () => {
  for (const [word = ''] of words)
    expect(
      rows.some(([, by = '']) => by.includes(word)),
      word,
    ).toBe(true);
  const [, deploy = ''] = /\n## Deploy\n([\s\S]*?)\n## /.exec(readSource('README.md')) ?? [];
  expect(linksIn(deploy)).toContain(PAGE);
  expect(linksIn(readSource('docs/README.md'))).toContain('operations/verified.md');
});
