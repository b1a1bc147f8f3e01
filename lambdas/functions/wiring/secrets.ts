import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Peppers, parsePeppers, SECRET_LENGTH_MIN } from '../../core/accounts/keys.ts';
import type { Settings } from '../../settings.ts';
import type { Environment } from './ledger.ts';

/** A secret has a current value and, during a rotation, the previous one. */
type Stage = 'AWSCURRENT' | 'AWSPREVIOUS';

/** Returns undefined if the secret has no value of that stage. */
export type ReadSecret = (name: string, stage?: Stage) => Promise<string | undefined>;

let client: Promise<SecretsManagerClient> | undefined;

/** Loads the SDK on demand, so that functions without secrets in AWS start without it. */
const openClient = async (name: string): Promise<SecretsManagerClient> => {
  const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  // The region comes from the ARN, because an operator's commands may run with another default region.
  const [, , , region] = name.split(':');
  return new SecretsManagerClient({
    ...(region ? { region } : {}),
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  });
};

export const readSecret: ReadSecret = async (name, stage = 'AWSCURRENT') => {
  client ??= openClient(name);
  const { GetSecretValueCommand, ResourceNotFoundException } = await import('@aws-sdk/client-secrets-manager');
  const command = new GetSecretValueCommand({ SecretId: name, VersionStage: stage });
  try {
    return (await (await client).send(command)).SecretString;
  } catch (error) {
    if (stage === 'AWSPREVIOUS' && error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const readCurrent = async (name: string, read: ReadSecret): Promise<string> => {
  const value = await read(name);
  if (!value) throw new Error(`the secret "${name}" is empty`);
  return value;
};

/** Names an error without its message, which could quote the secret. */
export const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

export const readPeppers = async (
  settings: Pick<Settings, 'KEY_PEPPER' | 'KEY_PEPPER_SECRET'>,
  read = readSecret,
): Promise<Peppers> => {
  if (settings.KEY_PEPPER) return parsePeppers(settings.KEY_PEPPER);
  if (settings.KEY_PEPPER_SECRET) return parsePeppers(await readCurrent(settings.KEY_PEPPER_SECRET, read));
  throw new Error('KEY_PEPPER: set KEY_PEPPER or KEY_PEPPER_SECRET');
};

/**
 * Returns the bot token; undefined if there is none, or if the secret still holds its generated value, which has no
 * colon.
 */
export const readBotToken = async (
  { BOT_TOKEN, BOT_TOKEN_SECRET }: Pick<Settings, 'BOT_TOKEN' | 'BOT_TOKEN_SECRET'>,
  read = readSecret,
): Promise<string | undefined> => {
  if (BOT_TOKEN || !BOT_TOKEN_SECRET) return BOT_TOKEN;
  const token = (await readCurrent(BOT_TOKEN_SECRET, read)).trim();
  return /^\d+:[\w-]+$/.test(token) ? token : undefined;
};

export const readTopUpKey = async (
  { TOP_UP_KEY, TOP_UP_KEY_SECRET }: Pick<Settings, 'TOP_UP_KEY' | 'TOP_UP_KEY_SECRET'>,
  read = readSecret,
): Promise<string | undefined> =>
  TOP_UP_KEY || !TOP_UP_KEY_SECRET ? TOP_UP_KEY : asLongEnough(await readCurrent(TOP_UP_KEY_SECRET, read));

/** A secret below the minimum length counts as absent. */
const asLongEnough = (secret = ''): string | undefined => {
  const value = secret.trim();
  return value.length < SECRET_LENGTH_MIN ? undefined : value;
};

/**
 * Returns all valid secrets, the newest first. Throws if the current secret is missing or too short; skips a previous
 * secret that is too short.
 */
export const readOriginSecrets = async (
  { ORIGIN_SECRET, ORIGIN_SECRET_SECRET }: Pick<Settings, 'ORIGIN_SECRET' | 'ORIGIN_SECRET_SECRET'>,
  read = readSecret,
): Promise<readonly string[]> => {
  if (ORIGIN_SECRET) return [required(asLongEnough(ORIGIN_SECRET))];
  if (!ORIGIN_SECRET_SECRET) {
    throw new Error('ORIGIN_SECRET: set ORIGIN_SECRET or ORIGIN_SECRET_SECRET, because FRONT_DOOR is cloudfront');
  }
  const [current, previous] = await Promise.all([
    read(ORIGIN_SECRET_SECRET, 'AWSCURRENT'),
    read(ORIGIN_SECRET_SECRET, 'AWSPREVIOUS'),
  ]);
  const older = asLongEnough(previous);
  return [required(asLongEnough(current)), ...(older === undefined ? [] : [older])];
};

const required = (secret: string | undefined): string => {
  if (secret === undefined) throw new Error(`ORIGIN_SECRET: must have at least ${SECRET_LENGTH_MIN} characters`);
  return secret;
};

/**
 * Returns the values of the providers' variables by name: from one secret that holds a JSON object, or from the
 * environment. A list of credentials is returned as JSON, as it is in an environment variable.
 */
export const readProviderKeys = async (
  { PROVIDER_KEYS_SECRET }: Pick<Settings, 'PROVIDER_KEYS_SECRET'>,
  environment: Environment,
  read = readSecret,
): Promise<Environment> => {
  if (!PROVIDER_KEYS_SECRET) return environment;
  const value = parsed(await readCurrent(PROVIDER_KEYS_SECRET, read));
  if (typeof value !== 'object' || value === null)
    throw new Error('PROVIDER_KEYS_SECRET: the secret must be a JSON object');
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (typeof member === 'object' && member !== null) return [[name, JSON.stringify(member)]];
      return typeof member === 'string' && member !== '' ? [[name, member]] : [];
    }),
  );
};

/** Returns undefined for invalid JSON. The error of the parser is dropped, because it quotes the secret. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
