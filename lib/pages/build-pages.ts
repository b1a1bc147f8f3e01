import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BuildOptions, OutputFile } from 'esbuild';
import { mediaTypeOf, type PageName, pageNames } from '../../lambdas/routes.ts';
import { referenceFiles } from './reference-pages.ts';

/**
 * File of a page, stored as `pages/<page>/<file>` in the code of the function that serves it. Its name can have a
 * folder, such as `guides/keys.html`. `<file>.gz` beside it is the same file, compressed.
 */
export interface PageFile {
  readonly page: PageName;
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

const root = join(import.meta.dirname, '../..');

/** Builds all pages that the gateway serves. */
export const buildPages = async (): Promise<readonly PageFile[]> => {
  const pages = await Promise.all(pageNames.map(buildPage));
  return pages.flat();
};

/** Returns the folder of a page's sources in the repository. */
export const pageFolder = (page: PageName): string => join('web', page);

const buildPage = async (page: PageName): Promise<readonly PageFile[]> => {
  const files = await buildFiles(pageFolder(page));
  return files.map(({ file, bytes }) => ({ page, file, bytes, mediaType: mediaTypeOf(file) }));
};

export interface BuiltFile {
  readonly file: string;
  readonly bytes: Uint8Array;
}

/**
 * Builds the files of a page: copies static files, bundles `main.tsx` or `main.ts` into `main.js` and `main.css`, and
 * renders the pages of the API reference. Adds each file in compressed form.
 */
export const buildFiles = async (folder: string): Promise<readonly BuiltFile[]> =>
  toFiles(folder, (await bundle(folder)).outputFiles);

/** Returns the files of a page from the output of a build with `pageBuild`. */
export const toFiles = (folder: string, outputFiles: readonly OutputFile[]): readonly BuiltFile[] => {
  const built = outputFiles.map(({ path, contents }) => ({
    file: path.slice(path.lastIndexOf('/') + 1),
    bytes: contents,
  }));
  const fixed = ['index.html', 'openapi.json', 'llms.txt']
    .filter((file) => existsSync(join(root, folder, file)))
    .map((file) => ({ file, bytes: readFileSync(join(root, folder, file)) }));
  const description = fixed.find(({ file }) => file === 'openapi.json');
  const files = [...fixed, ...built, ...(description ? referenceFiles(description.bytes.toString('utf8')) : [])];
  return files.flatMap((each) => [each, { file: `${each.file}.gz`, bytes: gzipSync(each.bytes, { level: 9 }) }]);
};

/** Returns the names of the packages that page bundles contain. */
export const packagesOfPages = async (): Promise<ReadonlySet<string>> => {
  const bundles = await Promise.all(pageNames.map((page) => bundle(pageFolder(page))));
  const inputs = bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return new Set(inputs.flatMap((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []));
};

/** Imports esbuild only to build, so that a gateway with built pages runs without it. */
const bundle = async (folder: string) => {
  const { build } = await import('esbuild');
  return build(pageBuild(folder));
};

/** Returns esbuild's options for the page in a folder of the repository. */
export const pageBuild = (folder: string) =>
  ({
    absWorkingDir: root,
    entryPoints: { main: join(folder, existsSync(join(root, folder, 'main.tsx')) ? 'main.tsx' : 'main.ts') },
    outdir: 'built',
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
  }) as const satisfies BuildOptions;
