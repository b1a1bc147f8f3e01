import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

export const repository = join(import.meta.dirname, '../..');

/** Folders that tools write. They are not part of the program. */
const ignored = new Set(['node_modules', 'coverage', 'cdk.out', 'built', 'dist']);

/**
 * Returns every file and folder of the repository as paths with slashes. Folders end in a slash; hidden ones are
 * omitted.
 */
export const listPaths = (folder = ''): readonly string[] =>
  readdirSync(join(repository, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !ignored.has(name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? [`${path}/`, ...listPaths(path)] : [path];
    });

/** A file of TypeScript. `path` and the files among `imports` are paths from the root of the repository. */
export interface Source {
  readonly path: string;
  readonly source: string;
  readonly imports: readonly string[];
}

let read: readonly Source[] | undefined;

/** All TypeScript of the repository. Reads the files once in a process. */
export const readSources = (): readonly Source[] => {
  read ??= listPaths()
    .filter((path) => /\.(?:tsx?|mts)$/.test(path))
    .map((path) => {
      const source = readSource(path);
      return { path, source, imports: importsOf(path, source) };
    });
  return read;
};

/** Whether a file belongs to the product: neither test nor measurement nor configuration. */
export const isProduct = (path: string): boolean => /^(?:lambdas|lib|local|bin|reference|web)\//.test(path);

export const linesOf = (source: string): number => source.split('\n').length - 1;

/** Paths of the files that import each file. */
export const importersOf = (sources: readonly Source[]): ReadonlyMap<string, readonly string[]> => {
  const importers = new Map<string, string[]>();
  for (const { path, imports } of sources) {
    for (const target of new Set(imports)) importers.set(target, [...(importers.get(target) ?? []), path]);
  }
  return importers;
};

export const readSource = (path: string): string => readFileSync(join(repository, path), 'utf8');

const stringsAndComments = /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

export const withoutComments = (source: string): string =>
  source.replace(stringsAndComments, (_match, text: string | undefined) => text ?? ' ');

const statements = [
  /(?:^|[;}\s])(?:import|export)\b[^;'"`()]*?\bfrom\s*(['"])(?<target>[^'"\n]+)\1/g,
  /(?:^|[;}\s])import\s*(['"])(?<target>[^'"\n]+)\1/g,
  /\bimport\s*\(\s*(['"`])(?<target>[^'"`\n]+)\1/g,
  /\brequire\s*\(\s*(['"`])(?<target>[^'"`\n]+)\1/g,
];

/** An import whose target the source does not name. */
export const COMPUTED = '(computed)';

/** Targets of all imports of a file: paths from the root of the repository, or names of libraries as written. */
export const importsOf = (path: string, source: string): readonly string[] => {
  const code = withoutComments(source);
  const targets = statements.flatMap((statement) =>
    [...code.matchAll(statement)].map(({ groups }) => groups?.target ?? COMPUTED),
  );
  if (/\bimport\s*\(\s*[^'"`\s)]/.test(code)) targets.push(COMPUTED);
  return targets.map((target) => (target.startsWith('.') ? posix.join(dirname(path), target) : target));
};
