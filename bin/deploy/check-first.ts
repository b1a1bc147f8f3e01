import { type EnvironmentName, environments } from '../../lib/environments.ts';
import { checkCatalog, checkNode } from '../commands/doctor/machine-checks.ts';
import { failed, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/**
 * Checks Node, the catalog and the credentials. Throws a CliError for a problem that would otherwise stop the
 * deployment halfway.
 */
export const checkFirst = async (
  { environment, status }: Terminal,
  name: EnvironmentName,
  { credentials }: { readonly credentials: boolean },
): Promise<void> => {
  const { region, markup } = environments[name];
  for (const { check, status: result, detail, advice } of [
    checkNode(process.versions.node),
    await checkCatalog({ ...environment, MARKUP: markup }),
  ]) {
    if (result === 'failure') throw failed(`${check}: ${detail}. ${advice}`);
    if (result === 'warning') status(`${check}: ${detail}. ${advice}`);
  }
  if (credentials) await findCredentials(region, environment.AWS_PROFILE);
};

/** Checks that credentials exist. AWS itself checks their permissions during the deployment. */
const findCredentials = async (region: string, profile: string | undefined): Promise<void> => {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region });
  try {
    await client.config.credentials();
  } catch (error) {
    const advice = profile ? `Log in to the profile ${profile} that AWS_PROFILE names` : 'Log in, and set AWS_PROFILE';
    throw failed(`AWS credentials: not found (${whyOf(error)}). ${advice}.`, error);
  } finally {
    client.destroy();
  }
};
