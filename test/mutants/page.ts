import { runsInTier, type Tier } from '../tiers.ts';
import type { MoneyBug } from './money-bugs.ts';

export interface Caught {
  readonly bug: MoneyBug;
  /** Title of the first test that failed. */
  readonly title: string;
  /** File of that test. */
  readonly file: string;
}

const tiers: readonly Tier[] = ['quick', 'long'];
const tiersOf = (file: string): string => tiers.filter((tier) => runsInTier(file, tier)).join(', ');

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Renders the page that `run.ts` writes after the long tier has caught every mistake. */
export const renderPage = (caught: readonly Caught[]): string => {
  const rows = caught.map(
    ({ bug: { id, what, file }, title, file: testFile }) =>
      `| ${id} | ${cell(what)} | \`${file}\` | ${cell(title)} | ${tiersOf(testFile)} |`,
  );
  return [
    '# Money bugs',
    '',
    'Mistakes that a developer could make in the code that moves money or stores data. `npm run test:mutants` puts each into its module while',
    'tests run, one at a time and without changing a file. The tests must fail. The command writes this page when the tests catch all',
    `${caught.length}; \`-- --only <id>\` tries one, \`-- --tier quick\` uses quick tests only. The last columns name the first test that fails`,
    'and the tiers that run it.',
    '',
    '| bug | effect on the gateway | file | caught by | tier |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
};
