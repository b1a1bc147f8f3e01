import { type EnvironmentName, environments } from '../../lib/environments.ts';
import { checkCatalog, checkNode } from '../commands/doctor/machine-checks.ts';
import { failed, whyOf } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Throws a CliError for what would only come out in the middle of a deployment. */
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

/** That they are there; what they allow, AWS tells. */
const findCredentials = async (region: string, profile: string | undefined): Promise<void> => {
  const { CloudFormationClient } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region });
  try {
    await client.config.credentials();
  } catch (error) {
    const advice = profile
      ? `Log in to the profile ${profile}, which AWS_PROFILE names`
      : 'Log in, and set AWS_PROFILE';
    throw failed(`There are no credentials of AWS: ${whyOf(error)}. ${advice}.`, error);
  } finally {
    client.destroy();
  }
};
