import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { AssetOptions } from 'aws-cdk-lib/aws-s3-assets';
import { buildSync, type Metafile } from 'esbuild';
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
 * Bundles an entry file with all its dependencies. Includes the AWS SDK, because the copy in the runtime is another
 * version and loads two to three times slower. Splits the code, so that modules that are imported on demand are not in
 * the file that every start parses. CDK's NodejsFunction is not used, because it cannot split code.
 */
export const bundledCode = (name: string, description: Bundled): AssetCode =>
  Code.fromAsset(sources, bundling(name, description));

/** Parts of a description on which the code depends. */
export type Bundled = Pick<FunctionDescription, 'entry' | 'servesPages'>;

/** Folder with the entry files of all bundles. An asset of this folder needs the options of `bundling`. */
export const sources = join(root, 'lambdas');

export const bundling = (name: string, { entry, servesPages }: Bundled): AssetOptions => {
  const local = {
    // CDK bundles an asset once per set of options and ignores functions when it compares options, so what the bundle
    // depends on must be an option.
    entry,
    servesPages: servesPages === true,
    tryBundle: (outputFolder: string): true => {
      const { metafile } = buildSync({
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
        splitting: true,
        minify: true,
        metafile: true,
        logLevel: 'warning',
      });
      writeReport(dirname(outputFolder), name, metafile);
      if (servesPages) writePages(join(outputFolder, 'pages'));
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
    mkdirSync(join(folder, page), { recursive: true });
    for (const { file, bytes } of toFiles(source, buildSync(pageBuild(source)).outputFiles))
      writeFileSync(join(folder, page, file), bytes);
  }
};

/** Writes the bundle's metafile next to the templates. It is not deployed. */
const writeReport = (assembly: string, name: string, metafile: Metafile): void => {
  mkdirSync(join(assembly, 'bundles'), { recursive: true });
  writeFileSync(join(assembly, 'bundles', `${name}.json`), JSON.stringify(metafile));
};
