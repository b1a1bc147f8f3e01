import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf, readSource, repository } from '../architecture/read-imports.ts';
import { areaNames, testFiles } from '../tiers.ts';

/** Groups of rule ids. Text such as UTF-8 looks like an id but is not one. */
const groups = 'GEN|AUTH|KEY|LIM|BILL|IDEM|CHAT|FALL|RESP|MSG|GEM|IMG|VID|HOOK|AUD|MOD|EMB|CAT|ERR|REF|OPS'.split('|');
const id = `(?:${groups.join('|')})-\\d+`;
/** A list item that starts with its id in bold. */
const listed = new RegExp(`^- \\*\\*(${id})\\*\\*`, 'gm');
/**
 * A string that starts with rule ids. Every string counts, because rows of `test.each` give their titles as strings.
 * Titles of a `describe` or of a skipped test do not count, because they prove nothing.
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
