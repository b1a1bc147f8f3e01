import { dirname } from 'node:path/posix';
import { linesOf, type Source } from './read-imports.ts';
import { baseOf } from './shape-rules.ts';

const mirrored = /^(?:lambdas|lib|local|reference|bin)\//;
const mirroredTest = /^test\/(?:lambdas|lib|local|reference|bin)\/.*\.test\.tsx?$/;

/** A source above this size needs a test file of its name. */
const LINES_WITHOUT_TEST = 60;

export const isMirroredTest = (path: string): boolean => mirroredTest.test(path);

/**
 * The source that a test file names: `test/a/hold-again.test.ts` names `a/hold.ts`, unless there is `a/hold-again.ts`.
 * Undefined: the mirrored folder has no such source.
 */
export const sourceFinder = (paths: readonly string[]): ((test: string) => string | undefined) => {
  const sources = paths.filter((path) => mirrored.test(path) && /\.(?:tsx?|js)$/.test(path));
  const byFolder = Map.groupBy(sources, (path) => dirname(path));
  return (test) => {
    const name = baseOf(test);
    const inFolder = byFolder.get(dirname(test).slice('test/'.length)) ?? [];
    const named = inFolder.filter((path) => name.startsWith(`${baseOf(path)}.`) || name.startsWith(`${baseOf(path)}-`));
    return named.toSorted((one, other) => other.length - one.length)[0];
  };
};

/** Test files that name no source of the folder that they mirror. */
export const strayTests = (paths: readonly string[]): readonly string[] => {
  const sourceOf = sourceFinder(paths);
  return paths.filter((path) => isMirroredTest(path) && sourceOf(path) === undefined);
};

/** Sources above 60 lines that no test file names. */
export const untestedSources = (sources: readonly Source[], paths: readonly string[]): readonly string[] => {
  const tested = new Set(paths.filter(isMirroredTest).map(sourceFinder(paths)));
  const large = sources.filter(({ path, source }) => mirrored.test(path) && linesOf(source) > LINES_WITHOUT_TEST);
  return large.map(({ path }) => path).filter((path) => !tested.has(path));
};
