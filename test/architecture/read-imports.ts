import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

export const repository = join(import.meta.dirname, '../..');

/** Not part of the program: what tools put there. */
const ignored = new Set(['node_modules', 'coverage', 'cdk.out', 'built']);

/** Every file and folder of the repository, as paths with slashes, folders with one at the end. Hidden ones are left out. */
export const listPaths = (folder = ''): readonly string[] =>
  readdirSync(join(repository, folder), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !ignored.has(name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name);
      return entry.isDirectory() ? [`${path}/`, ...listPaths(path)] : [path];
    });

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

/** An import whose target is computed: nobody can tell where it goes. */
export const COMPUTED = '(computed)';

/** What a file imports in whatever way: paths from the root of the repository, or the names of libraries as written. */
export const importsOf = (path: string, source: string): readonly string[] => {
  const code = withoutComments(source);
  const targets = statements.flatMap((statement) =>
    [...code.matchAll(statement)].map(({ groups }) => groups?.target ?? COMPUTED),
  );
  if (/\bimport\s*\(\s*[^'"`\s)]/.test(code)) targets.push(COMPUTED);
  return targets.map((target) => (target.startsWith('.') ? posix.join(dirname(path), target) : target));
};
