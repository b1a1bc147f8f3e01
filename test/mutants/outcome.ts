import type { TestModule } from 'vitest/node';

export type Outcome =
  | { readonly kind: 'green' }
  /** Title of the first failed test, its file, and the first line of its message. */
  | { readonly kind: 'caught'; readonly title: string; readonly file: string; readonly message: string }
  /** Inconclusive: a file did not load, the code could not run, or no test ran. */
  | { readonly kind: 'broken'; readonly message: string };

/** Code that cannot run, or a write that the database cannot parse. Any test would detect these. */
const breakdown = /^(?:Error: )?(?:SyntaxError|ReferenceError|ValidationException)\b/;

/** Returns the outcome of one run of vitest. `modules` are the files that this run loaded. */
export const outcomeOf = (modules: readonly TestModule[], unhandled: readonly unknown[]): Outcome => {
  const failed = modules.flatMap(({ children }) => [...children.allTests('failed')]);
  const [first] = failed;
  const lines = failed.flatMap((test) => (test.result().errors ?? []).map(lineOf));
  const brokenDown = lines.find((line) => breakdown.test(line));
  if (brokenDown !== undefined) return broken(brokenDown);
  if (first) return { kind: 'caught', title: first.name, file: first.module.relativeModuleId, message: lines[0] ?? '' };
  const [error] = [...unhandled, ...modules.flatMap((module) => [...module.errors(), ...suiteErrorsOf(module)])];
  if (error !== undefined) return broken(lineOf(error));
  const isEmpty = ({ children }: TestModule): boolean => children.allTests().next().done === true;
  return modules.length === 0 || modules.some(isEmpty) ? broken('no test ran') : { kind: 'green' };
};

const suiteErrorsOf = ({ children }: TestModule) => [...children.allSuites()].flatMap((suite) => suite.errors());

const broken = (message: string): Outcome => ({ kind: 'broken', message });

const lineOf = (error: unknown): string => {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error ?? '');
  const name = 'name' in error ? `${error.name}: ` : '';
  return `${name}${error.message}`.split('\n', 1)[0] ?? '';
};
