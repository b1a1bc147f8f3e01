import { defineConfig } from 'vitest/config';
import { seedBug } from './test/mutants/seed-bug.ts';

/** `RUNS` multiplies how much a random test does. */
const longer = Number(process.env.RUNS ?? 1);

const project = (name: string, include: string[], timeoutMs: number) => ({
  plugins: seedBug(process.env.MONEY_BUG),
  test: { name, include, testTimeout: timeoutMs * longer, hookTimeout: 60_000 },
});

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    projects: [
      project('unit', ['test/{lambdas,lib,web,catalog,bin,architecture,docs}/**/*.test.ts'], 20_000),
      project('integration', ['test/contracts/**/*.test.ts'], 60_000),
      project('service', ['test/service/**/*.test.ts'], 120_000),
      project('browser', ['test/browser/**/*.test.ts'], 120_000),
      project('cdk', ['test/stacks/**/*.test.ts'], 300_000),
    ],
  },
});
