import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with the one line a machine reads: `N passed, N failed`. A file that could not be loaded counts as a failure. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state === 'passed') passed += 1;
        else if (state === 'failed') failed += 1;
        else skipped += 1;
      }
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
    }
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // Printed after vitest's own summary, which the default reporter writes when the run ends.
    process.on('exit', () => process.stdout.write(`\n${line}\n`));
  }
}
