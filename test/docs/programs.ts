import { globSync } from 'node:fs';
import { readSource, repository } from '../architecture/read-imports.ts';

/** Fenced code of a page. `notRun` is the reason of a comment `<!-- not run: reason -->` before the fence. */
export interface Program {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly notRun?: string;
}

/** Languages of text that a reader runs. */
const runnable: ReadonlySet<string> = new Set(['sh', 'bash', 'js', 'ts', 'python']);

const fence =
  /(?:<!-- not run: (?<reason>[^>]+) -->\s*)?^(?<indent> *)```(?<language>\w*)\n(?<code>[\s\S]*?)^\k<indent>```$/gm;

/** Every fenced block of a page, in order. */
export const programsIn = (page: string, text: string): readonly Program[] =>
  [...text.matchAll(fence)].map(({ index, groups: { reason, language = '', code = '', indent = '' } = {} }) => ({
    page,
    line: text.slice(0, index).split('\n').length,
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    ...(reason === undefined ? {} : { notRun: reason.trim() }),
  }));

/** Pages whose programs a service test runs, in this order. The last one replaces the API key. */
const runPages = (): readonly string[] => [
  'README.md',
  ...globSync('docs/guides/*.md', { cwd: repository }).toSorted(),
  'docs/operations/payments.md',
];

/** Every page for users, operators and contributors. */
export const pages = (): readonly string[] =>
  globSync('{*.md,docs/**/*.md}', { cwd: repository })
    .filter((page) => !page.startsWith('docs/decisions/'))
    .toSorted();

/**
 * Returns the runnable programs of a page, except those with a `not run` comment. Skips generated blocks, because the
 * client tests run the programs in them.
 */
const runnableOf = (page: string): readonly Program[] =>
  programsIn(page, readSource(page).replaceAll(/^<!-- generated: [\s\S]*?^<!-- end -->$/gm, blankLines)).filter(
    ({ language, notRun }) => runnable.has(language) && notRun === undefined,
  );

const blankLines = (text: string): string => text.replaceAll(/[^\n]/g, '');

export const programsToRun = (): readonly Program[] => runPages().flatMap(runnableOf);

/** Programs that no test runs and no comment marks. */
export const unmarkedPrograms = (): readonly Program[] =>
  pages()
    .filter((page) => !runPages().includes(page))
    .flatMap(runnableOf);

/** Commands in a block without a language, which no test would find. */
export const untaggedCommands = (): readonly Program[] =>
  pages()
    .flatMap((page) => programsIn(page, readSource(page)))
    .filter(
      ({ language, code }) =>
        language === '' && /^(?:\$ )?(?:sudo|npm|npx|node|curl|docker|aws|git|export|pip)\b/.test(code),
    );
