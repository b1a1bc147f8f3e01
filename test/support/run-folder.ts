import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasDynamodb } from './dynamodb.ts';

/**
 * Gives a test run a temp folder of its own, which every worker and every child process inherits as TMPDIR. The folder is removed
 * when vitest ends, also after a failure and after Ctrl-C, so that a worker that is killed leaves nothing behind. Names in one line
 * the suites that this platform skips.
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

/** Unmounts what the tests of a killed worker have mounted. */
const unmountBelow = (folder: string): void => {
  if (!existsSync(MOUNTS)) return;
  const paths = readFileSync(MOUNTS, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  for (const path of paths.toReversed()) if (path.startsWith(`${folder}/`)) execFileSync('umount', ['--lazy', path]);
};
