import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../../local/data-folder.ts';
import { startS3 } from '../../local/emulators/s3.ts';

export interface TestBucket {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts a separate bucket for one test file. Its folder is removed when this process ends for any reason. */
export async function startTestBucket(): Promise<TestBucket> {
  const path = mkdtempSync(join(tmpdir(), 'gateway-bucket-'));
  const cleaner = spawn('/bin/sh', ['-c', 'read -r _; rm -rf "$0"', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const removed = new Promise<void>((resolve) => cleaner.once('exit', () => resolve()));
  cleaner.unref();
  const folder = openDataFolder(path);
  const emulator = await startS3(folder);
  return {
    endpoint: emulator.endpoint,
    async stop() {
      await emulator.stop();
      folder.close();
      cleaner.ref();
      cleaner.stdin.end();
      await removed;
    },
  };
}
