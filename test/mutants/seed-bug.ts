import type { Vite } from 'vitest/node';
import { type MoneyBug, moneyBugs } from './money-bugs.ts';

/** Throws when the text to replace is not there, or there twice: the file has changed, and the list has to follow. */
export const withBug = (source: string, { id, file, find, replace }: MoneyBug): string => {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`the place of ${id} stands ${parts.length - 1} times in ${file}`);
  return parts.join(replace);
};

/** Puts one bug into its module on the way from the disk to the test; no file changes. Nothing without an id. */
export const seedBug = (id: string | undefined): Vite.Plugin[] => {
  if (!id) return [];
  const bug = moneyBugs.find((one) => one.id === id);
  if (!bug) throw new Error(`MONEY_BUG: no bug is called "${id}"`);
  const isPlace = (moduleId: string): boolean => moduleId.endsWith(`/${bug.file}`);
  return [
    {
      name: 'seed-bug',
      enforce: 'pre',
      transform: (source, moduleId) =>
        isPlace(moduleId) ? { code: withBug(source, bug), map: { mappings: '' } } : undefined,
      // Transformed modules are kept on disk for later runs, which must never meet this one.
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator((module) => (isPlace(module.id) ? false : undefined)),
      api: { vitest: { ignoreFsModuleCache: true } },
    },
  ];
};
