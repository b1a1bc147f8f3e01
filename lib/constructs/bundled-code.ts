import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { type AssetCode, Code } from 'aws-cdk-lib/aws-lambda';
import type { AssetOptions } from 'aws-cdk-lib/aws-s3-assets';
import { buildSync, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * A CommonJS package calls `require` for what Node has built in, and inside an ES module there is none: the function would crash
 * when it starts. Any update of a package may bring such a call.
 */
const requireForPackages = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * An entry file and all it needs, the AWS SDK included: the runtime's own copy is another version and two to three times
 * slower to load. CDK's NodejsFunction calls esbuild with `--outfile`, which rules out splitting, and puts its metafile into
 * what is deployed. Splitting keeps what is imported on demand out of the file that every start reads and parses.
 */
export const bundledCode = (name: string, entry: string): AssetCode => Code.fromAsset(sources, bundling(name, entry));

/** What the bundles are made of, for an asset with the options below. */
export const sources = join(root, 'lambdas');

export const bundling = (name: string, entry: string): AssetOptions => {
  const local = {
    // CDK builds an asset once per set of bundling options, and sees of these only what is data.
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
        // CommonJS files first, which is the default on Node, cost a quarter more bytes.
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
    // Asked for by type, never pulled: bundling here always succeeds or throws.
    bundling: { image: DockerImage.fromRegistry('unused'), local },
  };
};

/** What weighs in a bundle, kept beside the templates. It is not deployed. */
const writeReport = (assembly: string, name: string, metafile: Metafile): void => {
  mkdirSync(join(assembly, 'bundles'), { recursive: true });
  writeFileSync(join(assembly, 'bundles', `${name}.json`), JSON.stringify(metafile));
};
