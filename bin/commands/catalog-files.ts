import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CatalogError } from '../../lambdas/core/catalog/load-options.ts';

/** Contents of a catalog folder, in the shape of the data that `catalog/index.ts` exports. */
export interface CatalogFiles {
  readonly providers: unknown;
  /** Contents of each company's file, by file name without `.json`. */
  readonly companies: Readonly<Record<string, unknown>>;
}

const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CatalogError([{ id: basename(path), field: '', message }]);
  }
};

/** Reads `providers.json`, and every other JSON file as a company. Throws a CatalogError for invalid JSON. */
export const readCatalogFolder = async (folder: string): Promise<CatalogFiles> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== 'providers.json').sort();
  const companies: Record<string, unknown> = {};
  for (const name of names) companies[basename(name, '.json')] = await readJson(join(folder, name));
  return { providers: await readJson(join(folder, 'providers.json')), companies };
};

/**
 * Reads a catalog folder or the file of one company. For a file, `providers` is undefined. Throws a CatalogError for
 * invalid JSON.
 */
export const readCatalogPath = async (path: string): Promise<CatalogFiles> => {
  if ((await stat(path)).isDirectory()) return readCatalogFolder(path);
  return { providers: undefined, companies: { [basename(path, '.json')]: await readJson(path) } };
};
