import type { Settings } from '../../settings.ts';
import type { Environment } from './ledger-parts.ts';

/** Loaded only where secrets are kept in AWS, so that the other functions start without its client. */
const readSecret = async (name: string): Promise<string> => {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const { SecretString: value } = await new SecretsManagerClient({}).send(
    new GetSecretValueCommand({ SecretId: name }),
  );
  if (!value) throw new Error(`the secret "${name}" is empty`);
  return value;
};

export const readPepper = async (settings: Settings): Promise<string> => {
  if (settings.KEY_PEPPER) return settings.KEY_PEPPER;
  if (settings.KEY_PEPPER_SECRET) return readSecret(settings.KEY_PEPPER_SECRET);
  throw new Error('KEY_PEPPER: neither it nor KEY_PEPPER_SECRET is set');
};

/** The vendors' keys by variable name: a JSON object of strings in one secret, else the environment. */
export const readProviderKeys = async (settings: Settings, environment: Environment): Promise<Environment> => {
  if (!settings.PROVIDER_KEYS_SECRET) return environment;
  const value: unknown = JSON.parse(await readSecret(settings.PROVIDER_KEYS_SECRET));
  if (typeof value !== 'object' || value === null)
    throw new Error('PROVIDER_KEYS_SECRET: the secret is no JSON object');
  return Object.fromEntries(Object.entries(value).filter(([, key]) => typeof key === 'string' && key !== ''));
};
