import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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

/** Every id a test names, with the files that name it. */
export const namedRules = (testFolder: string, except: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const named = new Map<string, Set<string>>();
  for (const file of globSync('**/*.ts', { cwd: testFolder })) {
    if (file.startsWith(except)) continue;
    for (const rule of rulesNamedIn(readFileSync(join(testFolder, file), 'utf8'))) {
      const files = named.get(rule) ?? new Set();
      named.set(rule, files.add(file));
    }
  }
  return named;
};
