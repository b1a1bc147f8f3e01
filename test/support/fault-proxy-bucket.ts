import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataFolder } from '../../lib/local/data-folder.ts';
import { startS3 } from '../../lib/local/s3-stand-in.ts';

export interface TestBucket {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** A bucket of its own for one test file, to put a proxy before. */
export async function startTestBucket(): Promise<TestBucket> {
  const path = mkdtempSync(join(tmpdir(), 'gateway-bucket-'));
  const folder = openDataFolder(path);
  const standIn = await startS3(folder);
  return {
    endpoint: standIn.endpoint,
    async stop() {
      await standIn.stop();
      folder.close();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
