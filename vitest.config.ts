import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], timeoutMs: number) => ({
  test: { name, include, testTimeout: timeoutMs, hookTimeout: 60_000 },
});

export default defineConfig({
  test: {
    reporters: ['default', './test/support/closing-line-reporter.ts'],
    projects: [
      project('unit', ['test/{lambdas,lib,catalog,bin,architecture,docs}/**/*.test.ts'], 20_000),
      project('integration', ['test/contracts/**/*.test.ts'], 60_000),
      project('service', ['test/service/**/*.test.ts'], 120_000),
      project('cdk', ['test/stacks/**/*.test.ts'], 300_000),
    ],
  },
});
