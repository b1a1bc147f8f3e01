import { checkAccounts } from '../../lambdas/core/accounts/check-account.ts';
import { hashesOf, isApiKey } from '../../lambdas/core/accounts/keys.ts';
import { readSecret } from '../../lambdas/functions/wiring/secrets.ts';
import { failed, whyOf } from '../exit.ts';
import { openKeyDependencies } from '../keys-at.ts';
import type { Place } from '../place.ts';
import { CANARY_KEY_SECRET } from '../place-stack.ts';
import type { Terminal } from '../terminal.ts';
import { makeCheckKey, revokeActive } from './check-key.ts';

/**
 * Makes the API key of the canary and stores it in its secret, unless the secret holds a working one. The canary itself
 * may not write accounts or API keys. Its account has no money, because a dry run needs none. Throws a CliError.
 */
export const ensureCanaryKey = async (place: Place, { status }: Pick<Terminal, 'status'>): Promise<void> => {
  const secret = place.environment[CANARY_KEY_SECRET];
  if (!secret || (await works(place, secret))) return;
  const apiKey = await makeCheckKey(place, checkAccounts.canary);
  try {
    await writeSecret(secret, apiKey);
  } catch (error) {
    await revokeActive(place, checkAccounts.canary);
    throw failed(
      `The API key of the canary cannot be stored: ${whyOf(error)}. Allow secretsmanager:PutSecretValue on ${secret}, then run the check again.`,
      error,
    );
  }
  status('Stored a new API key for the canary');
};

const works = async (place: Place, secret: string): Promise<boolean> => {
  const [stored = '', current, peppers] = await Promise.all([
    readSecret(secret),
    place.stores.keys.currentKey(checkAccounts.canary),
    openKeyDependencies(place),
  ]);
  return isApiKey(stored) && current?.isRevoked === false && hashesOf(peppers, stored).includes(current.hash);
};

const writeSecret = async (SecretId: string, SecretString: string): Promise<void> => {
  const { PutSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const [, , , region] = SecretId.split(':');
  const client = new SecretsManagerClient({ ...(region ? { region } : {}) });
  try {
    await client.send(new PutSecretValueCommand({ SecretId, SecretString }));
  } finally {
    client.destroy();
  }
};
