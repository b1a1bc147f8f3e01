import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `quick` runs before every commit, `long` runs what `quick` leaves out. `docs/internals/testing.md` has the rule that
 * decides.
 */
export type Tier = 'quick' | 'long';

/** Test folders by area. An area is a vitest project in the quick tier, and `<area>-long` in the long tier. */
const areas = {
  unit: 'test/{lambdas,lib,local,reference,web,catalog,bin,bench,architecture,docs,workflows}/**',
  integration: 'test/contracts/**',
  service: 'test/service/**',
  browser: 'test/browser/**',
  cdk: 'test/stacks/**',
} as const;
export type Area = keyof typeof areas;
export const areaNames = Object.keys(areas) as readonly Area[];

const repository = join(import.meta.dirname, '..');
/** A suite that calls one of these has a quick form and a complete form. */
const scales = /\b(?:randomRuns|\w+OfTier)\(/;

const isLong = (file: string): boolean => file.endsWith('.long.test.ts');

/** Whether a tier runs a test file. */
export const runsInTier = (file: string, tier: Tier): boolean => {
  if (tier === 'quick') return !isLong(file);
  return isLong(file) || scales.test(readFileSync(join(repository, file), 'utf8'));
};

/** Paths from the root of the repository, sorted. */
export const testFiles = (area: Area, tier: Tier): readonly string[] =>
  globSync(`${areas[area]}/*.test.ts`, { cwd: repository })
    .sort()
    .filter((file) => runsInTier(file, tier));

/** The vitest project that runs an area in a tier. */
export const projectOf = (area: Area, tier: Tier): string => (tier === 'quick' ? area : `${area}-long`);

/** The area of a test file, from its path below the repository. */
export const areaOf = (file: string): Area => {
  const [, folder = ''] = file.split('/');
  if (folder === 'contracts') return 'integration';
  if (folder === 'stacks') return 'cdk';
  return folder === 'service' || folder === 'browser' ? folder : 'unit';
};

/** The tier of the running test file. */
export const currentTier = (): Tier => (process.env.TEST_TIER === 'long' ? 'long' : 'quick');

/** Every row in the long tier. In the quick tier, the first row of each kind. */
export const rowsOfTier = <Row>(rows: readonly Row[], kindOf: (row: Row) => string): readonly Row[] =>
  currentTier() === 'long' ? rows : [...new Map(rows.toReversed().map((row) => [kindOf(row), row])).values()].reverse();

/**
 * Returns the project that runs a test file in a tier. The long tier uses the complete form of a file if it has one,
 * otherwise its quick form. Undefined for a long file in the quick tier.
 */
export const projectOfFile = (file: string, tier: Tier): string | undefined => {
  if (runsInTier(file, tier)) return projectOf(areaOf(file), tier);
  return tier === 'long' ? projectOf(areaOf(file), 'quick') : undefined;
};
