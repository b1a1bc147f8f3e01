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

export const readPepper = async (settings: Pick<Settings, 'KEY_PEPPER' | 'KEY_PEPPER_SECRET'>): Promise<string> => {
  if (settings.KEY_PEPPER) return settings.KEY_PEPPER;
  if (settings.KEY_PEPPER_SECRET) return readSecret(settings.KEY_PEPPER_SECRET);
  throw new Error('KEY_PEPPER: neither it nor KEY_PEPPER_SECRET is set');
};

/** Undefined where there is none, also when nobody has put one into the secret yet: what was drawn for it has no colon. */
export const readBotToken = async ({
  BOT_TOKEN,
  BOT_TOKEN_SECRET,
}: Pick<Settings, 'BOT_TOKEN' | 'BOT_TOKEN_SECRET'>): Promise<string | undefined> => {
  if (BOT_TOKEN || !BOT_TOKEN_SECRET) return BOT_TOKEN;
  const token = (await readSecret(BOT_TOKEN_SECRET)).trim();
  return /^\d+:[\w-]+$/.test(token) ? token : undefined;
};

export const readTopUpKey = async ({
  TOP_UP_KEY,
  TOP_UP_KEY_SECRET,
}: Pick<Settings, 'TOP_UP_KEY' | 'TOP_UP_KEY_SECRET'>): Promise<string | undefined> =>
  TOP_UP_KEY || !TOP_UP_KEY_SECRET ? TOP_UP_KEY : asTopUpKey(await readSecret(TOP_UP_KEY_SECRET));

/** One that is too short to keep anybody out is none. */
const asTopUpKey = (secret: string): string | undefined => (secret.trim().length < 16 ? undefined : secret.trim());

/** The vendors' keys by variable name: a JSON object of strings in one secret, else the environment. */
export const readProviderKeys = async (
  settings: Pick<Settings, 'PROVIDER_KEYS_SECRET'>,
  environment: Environment,
): Promise<Environment> => {
  if (!settings.PROVIDER_KEYS_SECRET) return environment;
  const value: unknown = JSON.parse(await readSecret(settings.PROVIDER_KEYS_SECRET));
  if (typeof value !== 'object' || value === null)
    throw new Error('PROVIDER_KEYS_SECRET: the secret is no JSON object');
  return Object.fromEntries(Object.entries(value).filter(([, key]) => typeof key === 'string' && key !== ''));
};
