import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives a test run a temp folder of its own, which every worker and every child process inherits as TMPDIR. The folder is removed
 * when vitest ends, also after a failure and after Ctrl-C, so that a worker that is killed leaves nothing behind.
 */
export default (): void => {
  const folder = mkdtempSync(join(tmpdir(), 'mg-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
};
