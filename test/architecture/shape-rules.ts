import { importersOf, isProduct, linesOf, type Source, withoutComments } from './read-imports.ts';

const LINES_MAX = 400;
const LINES_MIN = 25;

/** Files that start a program or a page when they are loaded. No other file imports them. */
export const isEntryPoint = (path: string): boolean =>
  /^(?:lambdas\/functions\/[^/]+|lambdas\/host\/(?:content|inference)|bin\/[^/]+)\.ts$|\/main\.tsx?$/.test(path);

const isDeclaration = (path: string): boolean => path.endsWith('.d.ts');

export const isTooLong = ({ path, source }: Pick<Source, 'path' | 'source'>): boolean =>
  isProduct(path) && linesOf(source) > LINES_MAX;

/**
 * Returns the product files under 25 lines that fewer than two product files import, except entry points and
 * declarations.
 */
export const smallFiles = (sources: readonly Source[]): readonly string[] => {
  const product = sources.filter(({ path }) => isProduct(path));
  const importers = importersOf(product);
  return product
    .filter(({ source }) => linesOf(source) < LINES_MIN)
    .map(({ path }) => path)
    .filter((path) => !isEntryPoint(path) && !isDeclaration(path) && (importers.get(path) ?? []).length < 2);
};

const importStatement = /\bimport\b[^;]*?['"][^'"\n]+['"](?:\s*with\s*\{[^}]*\})?\s*;/g;
const reExport = /\bexport\s+(?:type\s+)?(?:\*|\{[^}]*\})(?:\s*as\s+\w+)?(?:\s*from\s*['"][^'"\n]+['"])?\s*;/g;

/** Whether a file only re-exports. */
export const isPassThrough = (source: string): boolean => {
  const code = withoutComments(source);
  return code.match(reExport) !== null && code.replace(reExport, '').replace(importStatement, '').trim() === '';
};

export const hasStarExport = (source: string): boolean =>
  /(?:^|[;\n])\s*export\s*(?:type\s*)?\*/.test(withoutComments(source));

/** The base name of a file without its ending. */
export const baseOf = (path: string): string => (path.split('/').at(-1) ?? '').replace(/\.(?:tsx?|js|mts)$/, '');

/** Whether a name only says that its file is a part of something. */
export const hasEmptyEnding = (path: string): boolean => /(?:^|-)(?:helpers|parts|ports|utils)$/.test(baseOf(path));

/** Base names that many folders use for a file of the same kind. */
const shapes = new Set(['handler', 'handlers', 'request', 'response', 'stream', 'body', 'errors', 'dependencies']);

const isPort = (path: string): boolean => path.startsWith('lambdas/core/');
const isImplementation = (path: string): boolean => /^lambdas\/(?:stores|providers)\//.test(path);
/** Entry points and wiring have the name of the thing that they start or build. */
const isBuilder = (path: string): boolean => path.startsWith('lambdas/functions/') || isEntryPoint(path);

/** Base names that files of `lambdas` use for different things. */
export const repeatedNames = (sources: readonly Source[]): readonly string[] => {
  const lambdas = sources.filter(({ path }) => path.startsWith('lambdas/') && !isBuilder(path));
  const groups = Map.groupBy(lambdas, ({ path }) => baseOf(path));
  return [...groups].filter(([name, group]) => !shapes.has(name) && hasTwoMeanings(group)).map(([name]) => name);
};

const hasTwoMeanings = (group: readonly Source[]): boolean => {
  const others = group.filter(({ path }) => !isImplementation(path));
  if (others.length === 0 || group.length === 1) return false;
  const [port] = others.filter(({ path }) => isPort(path));
  if (!port) return true;
  // A protocol or command for a subject of the core may have the name of the core file if it imports that file.
  return others.some((source) => source !== port && !source.imports.includes(port.path));
};
