import type { Vite } from 'vitest/node';
import { type MoneyBug, moneyBugs } from './money-bugs.ts';

/**
 * Replaces the text in the source. Throws an Error if the text does not occur exactly once: then the file has changed,
 * and `money-bugs.ts` must be updated.
 */
export const withBug = (source: string, { id, file, find, replace }: MoneyBug): string => {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${id}: ${file} holds the text to replace ${parts.length - 1} times.`);
  return parts.join(replace);
};

/**
 * Vite plugin that seeds one mistake while a module is loaded, without changing a file. `MONEY_BUG` is its id; empty
 * means no mistake. The plugin reads the variable for every module, so one process can try several mistakes.
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
      // Vitest caches transformed modules on disk. Later runs must not read a module with a mistake.
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
