import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import type { AssetOptions } from 'aws-cdk-lib/aws-s3-assets';
import type { Metafile } from 'esbuild';
import { catalogData } from '../../catalog/index.ts';
import { prepareCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { pageNames } from '../../lambdas/routes.ts';
import type { FunctionDescription } from '../function-description.ts';
import { pageBuild, pageFolder, toFiles } from '../pages/build-pages.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Defines `require`, which ES modules do not have. CommonJS packages in a bundle call it for Node's built-in modules,
 * and the function would crash at its start without it.
 */
const requireForPackages = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Returns a module that bundles import instead of a module of Node. An import of `node:http` reads every export, and one
 * of them loads Node's implementation of fetch, which takes about 40 ms of a start. The build fails if a bundle imports a
 * name that is not in the list.
 */
const lightModule = (name: string, names: string): string =>
  `data:text/javascript,const all=process.getBuiltinModule('${name}');export default all;export const{${names}}=all;`;

const alias = {
  'node:http': lightModule('node:http', 'Agent,createServer,request,STATUS_CODES'),
  'node:https': lightModule('node:https', 'Agent,createServer,request'),
};

/** Parts of a description on which the code depends. */
export type Bundled = Pick<FunctionDescription, 'entry' | 'servesPages'>;

/**
 * Folder with the bundles of all functions. Only the package has it (`npm run build`): its users need neither the
 * sources nor esbuild, and deploy the dependencies with which the functions were tested.
 */
const bundles = join(root, 'functions');

/** Returns the path of a function's bundle in that folder. */
export const bundlePath = (folder: string, { entry }: Bundled): string =>
  join(folder, entry.replace(/^lambdas\//, '').replace(/\.ts$/, ''));

/** Folder with the code of a function, and the options of an asset of this folder. */
export interface FunctionCode {
  readonly path: string;
  readonly options: AssetOptions;
}

/** Returns the code of a function: its bundle in the package, else the sources with the options that bundle them. */
export const codeOf = (name: string, description: Bundled): FunctionCode =>
  existsSync(bundles)
    ? { path: bundlePath(bundles, description), options: {} }
    : { path: join(root, 'lambdas'), options: bundling(name, description) };

/**
 * Bundles an entry file with all its dependencies. Includes the AWS SDK, because the copy in the runtime is another
 * version and loads two to three times slower. Splits the code, so that modules that are imported on demand are not in
 * the file that every start parses. CDK's NodejsFunction is not used, because it cannot split code. Throws a CatalogError
 * for an invalid catalog, because functions do not check it at their start (CAT-5).
 */
export const bundle = (
  { entry, servesPages }: Bundled,
  outputFolder: string,
  catalog: unknown = catalogData,
): Metafile => {
  const { metafile } = esbuild().buildSync({
    absWorkingDir: root,
    entryPoints: { index: entry },
    outdir: outputFolder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    // Prefer ES modules. The default on Node, CommonJS first, makes bundles a quarter larger.
    mainFields: ['module', 'main'],
    banner: { js: requireForPackages },
    alias,
    define: { PREPARED_CATALOG: JSON.stringify(catalog === catalogData ? shippedCatalog() : prepareCatalog(catalog)) },
    splitting: true,
    minify: true,
    metafile: true,
    logLevel: 'warning',
  });
  if (servesPages) writePages(join(outputFolder, 'pages'));
  return metafile;
};

let shipped: string | undefined;

/** Prepared catalog of this release, the same for every function. */
const shippedCatalog = (): string => {
  shipped ??= prepareCatalog(catalogData);
  return shipped;
};

/** Loads esbuild when something is bundled, because users of the package do not have it. */
const esbuild = (): typeof import('esbuild') => createRequire(import.meta.url)('esbuild');

export const bundling = (name: string, { entry, servesPages }: Bundled): AssetOptions => {
  const local = {
    // CDK bundles an asset once per set of options and ignores functions when it compares options, so what the bundle
    // depends on must be an option.
    entry,
    servesPages: servesPages === true,
    tryBundle: (outputFolder: string): true => {
      writeReport(dirname(outputFolder), name, bundle({ entry, servesPages }, outputFolder));
      return true;
    },
  };
  return {
    assetHashType: AssetHashType.OUTPUT,
    // The type requires an image. It is never pulled, because `local` always succeeds or throws.
    bundling: { image: DockerImage.fromRegistry('unused'), local },
  };
};

/** Builds all pages into `<folder>/<page>/<file>`, where the function looks for them. */
const writePages = (folder: string): void => {
  for (const page of pageNames) {
    const source = pageFolder(page);
    for (const { file, bytes } of toFiles(source, esbuild().buildSync(pageBuild(source)).outputFiles)) {
      mkdirSync(dirname(join(folder, page, file)), { recursive: true });
      writeFileSync(join(folder, page, file), bytes);
    }
  }
};

/** Writes the bundle's metafile next to the templates. It is not deployed. */
const writeReport = (assembly: string, name: string, metafile: Metafile): void => {
  mkdirSync(join(assembly, 'bundles'), { recursive: true });
  writeFileSync(join(assembly, 'bundles', `${name}.json`), JSON.stringify(metafile));
};
