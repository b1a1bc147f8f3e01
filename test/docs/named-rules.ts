import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf, readSource, repository } from '../architecture/read-imports.ts';
import { areaNames, testFiles } from '../tiers.ts';

/** The groups a rule can belong to. Whatever else looks like an id, such as UTF-8, is none. */
const groups = 'GEN|AUTH|KEY|LIM|BILL|IDEM|CHAT|FALL|RESP|MSG|GEM|IMG|VID|AUD|MOD|EMB|CAT|ERR|REF|OPS'.split('|');
const id = `(?:${groups.join('|')})-\\d+`;
/** A list item that begins with its id in bold. */
const listed = new RegExp(`^- \\*\\*(${id})\\*\\*`, 'gm');
/**
 * A string that begins with one id or several. Rows of `test.each` give their titles as strings too, so every string counts,
 * except for the title of a `describe` and of a test that does not run: neither proves anything.
 */
const title = new RegExp(
  `(?<!\\b(?:describe(?:\\.\\w+)?|\\w+\\.(?:skip|todo))\\(\\s*)(?<!\\w)(['"\`])(${id}(?:(?:, | and |, and | |/)${id})*)(?=[\\s,:]|\\1)`,
  'g',
);

export const rulesIn = (document: string): string[] => [...document.matchAll(listed)].map(([, rule = '']) => rule);

export const rulesNamedIn = (source: string): string[] =>
  [...source.matchAll(title)].flatMap(([, , ids = '']) => ids.match(new RegExp(id, 'g')) ?? []);

/** Rule ids with the files that name them: quick test files, and files below `test/` that those import. */
export const namedRules = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const named = new Map<string, Set<string>>();
  for (const file of quickFiles()) {
    for (const rule of rulesNamedIn(readSource(file))) {
      const files = named.get(rule) ?? new Set();
      named.set(rule, files.add(file));
    }
  }
  return named;
};

const quickFiles = (): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (file: string): void => {
    // Samples in strings look like imports of files that do not exist.
    if (found.has(file) || !existsSync(join(repository, file))) return;
    found.add(file);
    for (const target of importsOf(file, readSource(file))) {
      if (target.startsWith('test/') && target.endsWith('.ts')) visit(target);
    }
  };
  const tests = areaNames.flatMap((area) => testFiles(area, 'quick'));
  // The tests of this folder have ids in their samples.
  for (const file of tests.filter((path) => !path.startsWith('test/docs/'))) visit(file);
  return found;
};
