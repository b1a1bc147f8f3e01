import type { MoneyBug } from './money-bugs.ts';

export interface Caught {
  readonly bug: MoneyBug;
  /** Of the first test that failed. */
  readonly title: string;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The page that `run.ts` leaves when every bug was caught. */
export const renderPage = (caught: readonly Caught[]): string => {
  const rows = caught.map(
    ({ bug: { id, what, file }, title }) => `| ${id} | ${cell(what)} | \`${file}\` | ${cell(title)} |`,
  );
  return [
    '# Money bugs',
    '',
    'Mistakes that somebody could make in the code that moves money. Each is put into its module while a test runs, one at a time and',
    'without changing a file, and the tests have to fail. This page is written by `npx node test/mutants/run.ts` when all',
    `${caught.length} are caught; \`--only <id>\` tries one. The last column names the first test that fails.`,
    '',
    '| bug | what the gateway then does | file | caught by |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};
