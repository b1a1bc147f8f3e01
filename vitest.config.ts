import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { seedBug } from './test/mutants/seed-bug.ts';
import { type Area, areaNames, projectOf, type Tier, testFiles } from './test/tiers.ts';

/** `RUNS` multiplies the runs of random tests. */
const longer = Number(process.env.RUNS ?? 1);

/** Only a hang exceeds these limits, even on a slow machine. The limit of polls below follows the same rule. */
const timeoutMs: Readonly<Record<Tier, number>> = { quick: 60_000, long: 600_000 };

const project = (area: Area, tier: Tier) => ({
  plugins: seedBug(),
  test: {
    name: projectOf(area, tier),
    include: [...testFiles(area, tier)],
    env: { TEST_TIER: tier },
    setupFiles: ['test/support/loopback-only.ts'],
    isolate: false,
    testTimeout: timeoutMs[tier] * longer,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/run-folder.ts'],
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    maxWorkers: Math.max(2, availableParallelism()),
    projects: areaNames.flatMap((area) => [project(area, 'quick'), project(area, 'long')]),
  },
});
