import { dirname } from 'node:path/posix';
import { importersOf, type Source } from './read-imports.ts';

const isShared = (path: string): boolean =>
  path.startsWith('test/support/') && !path.startsWith('test/support/memory/');

/** Folders of the tests and programs that use a file, directly or through other files. */
const foldersOfUsers = (path: string, importers: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const seen = new Set([path]);
  const folders = new Set<string>();
  for (const file of seen) {
    const users = importers.get(file) ?? [];
    for (const user of users) seen.add(user);
    if (file !== path && users.length === 0) folders.add(dirname(file));
  }
  return folders;
};

/**
 * Returns the files of `test/support` that tests of at most one folder use: they belong next to these tests. Skips
 * files that `setup`, the configuration of vitest, names, because they serve all tests.
 */
export const supportOfOneSuite = (sources: readonly Source[], setup: string): readonly string[] => {
  const importers = importersOf(sources);
  return sources
    .map(({ path }) => path)
    .filter((path) => isShared(path) && !setup.includes(path))
    .filter((path) => foldersOfUsers(path, importers).size < 2);
};
