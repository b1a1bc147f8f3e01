import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import * as z from 'zod';
import { freePort } from '../../local/free-port.ts';

/** Settings with the names of resources, which every function gets. */
const assetSettings = {
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
  /** Event to call the handler with. Without it, the asset is loaded and not called. */
  readonly event?: object | undefined;
}

/** Loads an asset in its own process with `load-asset.mts`, and calls it. */
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

/** Runs an asset that is a server in its own process while `work` runs. Fails if the server wrote errors. */
export const serveAsset = async (
  folder: string,
  { name, environment }: Pick<AssetRun, 'name' | 'environment'>,
  work: (ask: (method: string, path: string) => Promise<Response>) => Promise<void>,
): Promise<void> => {
  const port = await freePort();
  const child = spawn(process.execPath, [join(folder, name, 'index.mjs')], {
    cwd: folder,
    env: {
      AWS_REGION: 'eu-central-1',
      AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}`,
      DYNAMODB_ENDPOINT: 'http://127.0.0.1:9',
      ...assetSettings,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors = text(child.stderr);
  try {
    await work((method, path) => answerOf(`http://127.0.0.1:${port}${path}`, method, child));
  } finally {
    child.kill();
  }
  // The asset has no table, so it reports that it cannot read the maintenance switch.
  expect((await errors).replaceAll(/^.*"maintenance_unreadable".*\n/gm, '')).toBe('');
};

/** Sends a request, and repeats it until the server of the child process responds. */
const answerOf = async (url: string, method: string, child: ChildProcess): Promise<Response> => {
  for (;;) {
    const answer = await fetch(url, { method }).catch(() => undefined);
    if (answer) return answer;
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
