import { expect, test } from 'vitest';
import { programsIn, programsToRun, unmarkedPrograms, untaggedCommands } from './programs.ts';

const place = ({ page, line }: { readonly page: string; readonly line: number }): string => `${page}:${line}`;

test('every program in a document is run by a test or marked as not run', () => {
  expect(unmarkedPrograms().map(place), 'add <!-- not run: reason --> before the fence').toEqual([]);
  expect(programsToRun().length).toBeGreaterThan(20);
});

test('every block of commands names its language', () => {
  expect(untaggedCommands().map(place), 'write ```sh').toEqual([]);
});

test('a program has the reason of the comment before it', () => {
  const text = 'a\n\n<!-- not run: needs a key -->\n\n```sh\nnpm start\n```\n\n- b\n\n  ```js\n  f();\n  ```\n';
  expect(programsIn('a.md', text)).toEqual([
    { page: 'a.md', line: 3, language: 'sh', code: 'npm start\n', notRun: 'needs a key' },
    { page: 'a.md', line: 11, language: 'js', code: 'f();\n' },
  ]);
});
