import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { within } from '../support/gateway-process.ts';
import { installRuntimeClient } from './install-client.ts';
import { scenes } from './scenes.ts';
import { startTextFunction } from './text-function.ts';

/**
 * `npx node test/runtime-client/run.ts`: runs the deployed text function under AWS's runtime client.
 * `RUNTIME_CLIENT=<entry file>` uses an existing client. If there is none and it cannot be built, nothing runs, and the
 * exit code says so.
 */
const SKIPPED = 77;
const START_MS = 30_000;
const SCENE_MS = 60_000;

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), 'gateway-runtime-client-'));
const seconds = (sinceMs: number): string => ((performance.now() - sinceMs) / 1_000).toFixed(1);

const playAll = async (entry: string): Promise<void> => {
  const started = await startTextFunction(entry);
  try {
    await within('the function to ask for work', started.api.idle(), START_MS);
    for (const { title, play } of scenes) {
      const startedAt = performance.now();
      try {
        await within(title, play(started), SCENE_MS);
        say(`ok      ${seconds(startedAt)} s  ${title}`);
      } catch (error) {
        process.exitCode = 1;
        say(`FAILED  ${seconds(startedAt)} s  ${title}\n${error instanceof Error ? error.stack : error}`);
      }
    }
  } finally {
    if (process.exitCode === 1) say(started.output());
    await started.stop();
  }
};

try {
  const startedAt = performance.now();
  const { RUNTIME_CLIENT: given } = process.env;
  const client = given ? { entry: given } : installRuntimeClient(folder);
  if ('missing' in client) {
    say(`skipped: AWS's runtime client cannot be installed here: ${client.missing}`);
    process.exitCode = SKIPPED;
  } else {
    if (!given) say(`AWS's runtime client was installed in ${seconds(startedAt)} s`);
    await playAll(client.entry);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
