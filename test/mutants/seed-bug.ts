import type { Vite } from 'vitest/node';
import { type MoneyBug, moneyBugs } from './money-bugs.ts';

/** Throws when the file does not hold the text to replace exactly once: the file has changed, and the list must follow. */
export const withBug = (source: string, { id, file, find, replace }: MoneyBug): string => {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${id}: ${file} holds the text to replace ${parts.length - 1} times.`);
  return parts.join(replace);
};

/**
 * Puts one mistake into its module between the disk and the test; no file changes. `MONEY_BUG` holds its id. The plugin
 * reads the variable again for every module, so a process may try one mistake after another. Empty means no mistake.
 */
export const seedBug = (): Vite.Plugin[] => {
  if (process.env.MONEY_BUG === undefined) return [];
  const places = new Set(moneyBugs.map(({ file }) => file));
  const isPlace = (moduleId: string): boolean => places.values().some((file) => moduleId.endsWith(`/${file}`));
  return [
    {
      name: 'seed-bug',
      enforce: 'pre',
      transform: (source, moduleId) => {
        const bug = currentBug();
        if (!bug || !moduleId.endsWith(`/${bug.file}`)) return undefined;
        return { code: withBug(source, bug), map: { mappings: '' } };
      },
      // Vitest stores transformed modules on disk for later runs, which must never read a mistake.
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator((module) => (isPlace(module.id) ? false : undefined)),
      api: { vitest: { ignoreFsModuleCache: true } },
    },
  ];
};

const currentBug = (): MoneyBug | undefined => {
  const id = process.env.MONEY_BUG;
  if (!id) return undefined;
  const bug = moneyBugs.find((one) => one.id === id);
  if (!bug) throw new Error(`MONEY_BUG: no mistake has the id "${id}".`);
  return bug;
};
