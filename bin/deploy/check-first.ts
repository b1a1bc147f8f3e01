import { type EnvironmentName, environments } from '../../lib/environments.ts';
import { checkCatalog, checkNode } from '../commands/doctor/machine-checks.ts';
import { failed } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Checks Node and the catalog. Throws a CliError for a problem that would otherwise stop the deployment halfway. */
export const checkFirst = async ({ environment, status }: Terminal, name: EnvironmentName): Promise<void> => {
  const { markup } = environments[name];
  for (const { check, status: result, detail, advice } of [
    checkNode(process.versions.node),
    await checkCatalog({ ...environment, MARKUP: markup }),
  ]) {
    if (result === 'failure') throw failed(`${check}: ${detail}. ${advice}`);
    if (result === 'warning') status(`${check}: ${detail}. ${advice}`);
  }
};
