import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { AssetOptions } from 'aws-cdk-lib/aws-s3-assets';
import { buildSync, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * Defines `require`, which ES modules do not have. CommonJS packages in a bundle call it for Node's built-in modules,
 * and the function would crash at its start without it.
 */
const requireForPackages = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Bundles an entry file with all its dependencies. Includes the AWS SDK, because the copy in the runtime is another
 * version and loads two to three times slower. CDK's NodejsFunction does not support code splitting and deploys its
 * metafile. Splitting keeps modules that are imported on demand out of the file that every start parses.
 */
export const bundledCode = (name: string, entry: string): AssetCode => Code.fromAsset(sources, bundling(name, entry));

/** Folder with the entry files of all bundles. An asset of this folder needs the options of `bundling`. */
export const sources = join(root, 'lambdas');

export const bundling = (name: string, entry: string): AssetOptions => {
  const local = {
    // CDK bundles an asset once per set of options and ignores functions when it compares options, so `entry` must be
    // an option.
    entry,
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
      return true;
    },
  };
  return {
    assetHashType: AssetHashType.OUTPUT,
    // The type requires an image. It is never pulled, because `local` always succeeds or throws.
    bundling: { image: DockerImage.fromRegistry('unused'), local },
  };
};

/** Writes the bundle's metafile next to the templates. It is not deployed. */
const writeReport = (assembly: string, name: string, metafile: Metafile): void => {
  mkdirSync(join(assembly, 'bundles'), { recursive: true });
  writeFileSync(join(assembly, 'bundles', `${name}.json`), JSON.stringify(metafile));
};
