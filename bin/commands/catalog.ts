import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { catalogData } from '../../catalog/index.ts';
import { CatalogError, type CatalogProblem, loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { catalogWarnings } from '../../lambdas/core/catalog/warnings.ts';

interface CheckOptions {
  readonly folder?: string;
  readonly markup: string;
  readonly json?: true;
}

interface CheckResult {
  readonly ok: boolean;
  readonly models: number;
  readonly enabled: number;
  readonly providers: number;
  readonly problems: readonly CatalogProblem[];
  readonly warnings: readonly CatalogProblem[];
}

const readJson = async (path: string): Promise<unknown> => {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CatalogError([{ id: basename(path), field: '', message }]);
  }
};

/** The shape `catalog/index.ts` has: `providers.json`, and every other JSON file as a company. */
const readFolder = async (folder: string): Promise<unknown> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== 'providers.json').sort();
  const companies: Record<string, unknown> = {};
  for (const name of names) companies[basename(name, '.json')] = await readJson(join(folder, name));
  return { providers: await readJson(join(folder, 'providers.json')), companies };
};

const check = async ({ folder, markup }: CheckOptions): Promise<CheckResult> => {
  try {
    const catalog = loadCatalog(folder === undefined ? catalogData : await readFolder(folder), { markup });
    return {
      ok: true,
      models: catalog.entries.length,
      enabled: catalog.entries.filter((model) => model.enabled).length,
      providers: catalog.providers.length,
      problems: [],
      warnings: catalogWarnings(catalog, Date.now()),
    };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return { ok: false, models: 0, enabled: 0, providers: 0, problems: error.problems, warnings: [] };
  }
};

const toLines = (problems: readonly CatalogProblem[], prefix = ''): string =>
  problems.map(({ id, field, message }) => `${prefix}${id}  ${field}  ${message}\n`).join('');

const report = (result: CheckResult): void => {
  const { ok, models, enabled, providers, problems, warnings } = result;
  process.stderr.write(toLines(warnings, 'warning  '));
  if (ok) process.stdout.write(`${models} models (${enabled} enabled), ${providers} providers: ok\n`);
  else {
    process.stdout.write(toLines(problems));
    process.stderr.write(`${problems.length} problems\n`);
  }
};

export const addCatalogCommands = (program: Command): void => {
  const catalog = program.command('catalog').description('the models, their prices and their providers');
  catalog
    .command('check')
    .description('validate the catalog; exit 1 and one line per problem (id, field, message) if it is invalid')
    .option('--folder <path>', 'check the JSON files of another folder')
    .option('--markup <factor>', 'factor on every price', '1')
    .option('--json', 'print the result as JSON')
    .action(async (options: CheckOptions) => {
      const result = await check(options);
      if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
      else report(result);
      if (!result.ok) process.exitCode = 1;
    });
};
