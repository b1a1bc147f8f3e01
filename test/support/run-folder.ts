import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasDynamodb } from './dynamodb.ts';

/**
 * Sets TMPDIR to a new folder for the test run, which all workers and child processes inherit. Removes it when Vitest
 * ends, also after a failure or Ctrl-C, so a killed worker leaves nothing behind. Prints one line about the suites that
 * this platform skips.
 */
export default (): void => {
  if (!hasDynamodb) {
    const platform = `${process.platform}-${process.arch}`;
    process.stdout.write(`Skips suites on DynamoDB: no engine for ${platform}. Set TEST_DYNAMODB_ENDPOINT to one.\n`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'mg-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => {
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
};

const MOUNTS = '/proc/self/mounts';

/** Unmounts file systems that tests of a killed worker have mounted. */
const unmountBelow = (folder: string): void => {
  if (!existsSync(MOUNTS)) return;
  const paths = readFileSync(MOUNTS, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const path of paths.toReversed()) if (path.startsWith(`${folder}/`)) execFileSync('umount', ['--lazy', path]);
};
