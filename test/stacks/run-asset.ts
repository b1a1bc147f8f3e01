import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as z from 'zod';

/** What every function is told of where things are. */
export const assetSettings = {
  ACCOUNTS_TABLE: 'a',
  KEYS_TABLE: 'k',
  COUNTERS_TABLE: 'c',
  IDEMPOTENCY_TABLE: 'i',
  VIDEOS_TABLE: 'v',
  MEDIA_BUCKET: 'm',
  MEDIA_URL: 'https://media.example',
};

const resultSchema = z.object({
  node: z.string(),
  handler: z.string(),
  prelude: z.object({ statusCode: z.int() }).optional(),
  body: z.string(),
});

interface AssetRun {
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Without one it is loaded and not called. */
  readonly event?: object | undefined;
}

/** Loads an asset in a process of its own, by the program `load-asset.mts` that stands beside it, and calls it. */
export const runAsset = async (folder: string, { name, environment, event }: AssetRun) => {
  const child = spawn(
    process.execPath,
    [join(folder, 'load-asset.mts'), `./${name}/index.mjs`, ...(event ? [JSON.stringify(event)] : [])],
    {
      cwd: folder,
      env: { AWS_REGION: 'eu-central-1', ...assetSettings, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new Error(`the asset ${name} does not load:\n${errors}`);
  return resultSchema.parse(JSON.parse(last));
};
