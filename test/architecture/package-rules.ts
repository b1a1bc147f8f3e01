import * as z from 'zod';
import { isProduct, readSource, type Source } from './read-imports.ts';

const record = z.record(z.string(), z.string());
const manifestSchema = z.object({
  dependencies: record,
  devDependencies: record,
  optionalDependencies: record,
  scripts: record,
});
export type Manifest = z.infer<typeof manifestSchema>;

export const readManifest = (): Manifest => manifestSchema.parse(JSON.parse(readSource('package.json')));

/** The package of an import, or undefined for a file, a module of Node.js and a computed target. */
export const packageOf = (target: string): string | undefined => {
  if (target.startsWith('node:') || /^[\w.-]+\/.*\.(?:tsx?|mts|js|json|css)(?:\?.*)?$/.test(target)) return undefined;
  return /^((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[\w./-]+)?$/.exec(target)?.[1];
};

const packagesIn = (sources: readonly Source[]): ReadonlySet<string> =>
  new Set(sources.flatMap(({ imports }) => imports.map(packageOf)).filter((name) => name !== undefined));

/** Packages that a file imports and package.json does not declare. `@types/<name>` declares the types of `<name>`. */
export const undeclaredPackages = (sources: readonly Source[], manifest: Manifest): readonly string[] => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const declared = new Set(Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }));
  return [...packagesIn(sources)].filter((name) => !declared.has(name) && !declared.has(`@types/${name}`));
};

/** Dependencies that the product does not import. */
export const unusedDependencies = (sources: readonly Source[], { dependencies }: Manifest): readonly string[] => {
  const used = packagesIn(sources.filter(({ path }) => isProduct(path)));
  return Object.keys(dependencies).filter((name) => !used.has(name));
};

/**
 * Development dependencies that no file imports or names and no script starts. `commandsOf` lists the programs of a
 * package.
 */
export const unusedTools = (
  sources: readonly Source[],
  { devDependencies, scripts }: Manifest,
  commandsOf: (name: string) => readonly string[],
): readonly string[] => {
  const used = packagesIn(sources);
  const words = new Set(Object.values(scripts).flatMap((script) => script.split(/\s+/)));
  const isNamed = (name: string): boolean =>
    sources.some(({ source }) => source.includes(`${name}/`) || source.includes(`'${name}'`));
  return Object.keys(devDependencies).filter(
    (name) =>
      !name.startsWith('@types/') && !used.has(name) && !commandsOf(name).some((it) => words.has(it)) && !isNamed(name),
  );
};
