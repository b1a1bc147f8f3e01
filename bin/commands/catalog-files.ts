import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { CatalogError } from '../../lambdas/core/catalog/load-catalog.ts';

/** The shape `catalog/index.ts` has. */
export interface CatalogFiles {
  readonly providers: unknown;
  /** By the file's name without its ending. */
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

/** `providers.json`, and every other JSON file as a company. */
export const readCatalogFolder = async (folder: string): Promise<CatalogFiles> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== 'providers.json').sort();
  const companies: Record<string, unknown> = {};
  for (const name of names) companies[basename(name, '.json')] = await readJson(join(folder, name));
  return { providers: await readJson(join(folder, 'providers.json')), companies };
};

/** A folder, or the file of one company, which is then the only one. */
export const readCatalogPath = async (path: string): Promise<CatalogFiles> => {
  if ((await stat(path)).isDirectory()) return readCatalogFolder(path);
  return { providers: undefined, companies: { [basename(path, '.json')]: await readJson(path) } };
};
