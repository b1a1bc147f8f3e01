import type { Command } from 'commander';
import { catalogData } from '../../catalog/index.ts';
import type { Catalog } from '../../lambdas/core/catalog/catalog.ts';
import { catalogWarnings, loadCatalog } from '../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError, type CatalogProblem } from '../../lambdas/core/catalog/load-options.ts';
import { costWarnings } from '../../lambdas/core/pricing/cost-warnings.ts';
import { withJson } from '../command-options.ts';
import { unsatisfied } from '../exit.ts';
import { printJson } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { addCatalogDiffCommand } from './catalog-diff.ts';
import { readCatalogFolder } from './catalog-files.ts';

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

/** Returns what an operator should know about a valid catalog: its dates, missing sources and prices below the cost. */
export const warningsOf = (catalog: Catalog): readonly CatalogProblem[] => [
  ...catalogWarnings(catalog, Date.now()),
  ...costWarnings(catalog, Date.now()),
];

const check = async ({ folder, markup }: CheckOptions): Promise<CheckResult> => {
  try {
    const catalog = loadCatalog(folder === undefined ? catalogData : await readCatalogFolder(folder), { markup });
    return {
      ok: true,
      models: catalog.entries.length,
      enabled: catalog.entries.filter((model) => model.enabled).length,
      providers: catalog.providers.length,
      problems: [],
      warnings: warningsOf(catalog),
    };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    return { ok: false, models: 0, enabled: 0, providers: 0, problems: error.problems, warnings: [] };
  }
};

const toLines = (problems: readonly CatalogProblem[]): readonly string[] =>
  problems.map(({ id, field, message }) => `${id}  ${field}  ${message}`);

const report = async (terminal: Terminal, result: CheckResult): Promise<void> => {
  const { ok, models, enabled, providers, problems, warnings } = result;
  for (const line of toLines(warnings)) terminal.status(`warning  ${line}`);
  const lines = ok ? [`${models} models (${enabled} enabled), ${providers} providers: ok`] : toLines(problems);
  await terminal.print(lines.map((line) => `${line}\n`).join(''));
  terminal.status(`problems: ${problems.length}`);
};

export const addCatalogCommands = (program: Command, terminal: Terminal): void => {
  const catalog = program.command('catalog').description('check and compare catalogs of models, prices and providers');
  withJson(
    catalog
      .command('check')
      .description('validate the catalog; exit 1 and one line per problem (id, field, message) if it is invalid'),
  )
    .option('--folder <path>', "folder with the catalog's JSON files; default: the current catalog")
    .option('--markup <factor>', 'factor that multiplies every price', '1')
    .action(async (options: CheckOptions) => {
      const result = await check(options);
      if (options.json) await printJson(terminal, result);
      else await report(terminal, result);
      if (!result.ok) throw unsatisfied();
    });
  addCatalogDiffCommand(catalog, terminal);
};
