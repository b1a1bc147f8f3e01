import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SLOWEST = 10;
/** A path of shrinking can be longer. */
const REPLAY_CHARACTERS_MAX = 2_000;

/**
 * Ends a run with its slowest files, a line `FAILED <test>: <error>` per failed test, one per error outside of a test,
 * and the line `N passed, N failed`. A file that does not load counts as a failure.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly Failure[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    let skipped = 0;
    const failures = unhandledErrors.map((error) => `FAILED outside of a test: ${reasonOf(error)}\n`);
    for (const module of modules) {
      failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const state = test.result().state;
        if (state === 'passed') passed += 1;
        else if (state === 'failed') {
          failed += 1;
          const reason = reasonOf(test.result().errors?.[0]);
          failures.push(`FAILED ${relative(process.cwd(), module.moduleId)} > ${test.fullName}: ${reason}\n`);
        } else skipped += 1;
      }
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
    }
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // Printed after Vitest's summary, which the default reporter writes at the end of the run.
    process.on('exit', () => process.stdout.write(`\n${slowestOf(modules)}\n${failures.join('')}${line}\n`));
  }
}

interface Failure {
  readonly message: string;
  readonly cause?: { readonly message?: string } | undefined;
}

/** The first line of an error. A failed property adds its seed, its path and the error that it caught. */
const reasonOf = (failure: Failure | undefined): string => {
  const [first = '', replay = ''] = failure?.message.split('\n') ?? [];
  if (!first.startsWith('Property failed')) return first;
  return [first, replay.slice(0, REPLAY_CHARACTERS_MAX), failure?.cause?.message?.split('\n')[0] ?? '']
    .join(' ')
    .trim();
};

const slowestOf = (modules: readonly TestModule[]): string => {
  const files = modules.map((module) => {
    const { collectDuration, duration } = module.diagnostic();
    return { ms: collectDuration + duration, path: relative(process.cwd(), module.moduleId) };
  });
  const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, SLOWEST);
  const lines = slowest.map(({ ms, path }) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${path}`);
  return ['Slowest files:', ...lines].join('\n');
};
