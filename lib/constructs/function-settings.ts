import type { SettingsInput } from '../../lambdas/settings.ts';
import type { Environment } from '../environments.ts';
import type { SecretName } from '../function-description.ts';
import { type FunctionName, functions } from '../functions.ts';
import type { DataStack } from '../stacks/data-stack.ts';

/** The settings as Lambda keeps them: text. What a function cannot do without cannot be left out. */
export type FunctionSettings = { readonly [Name in keyof SettingsInput]: string };

export interface SettingsSource {
  readonly environment: Environment;
  readonly data: DataStack;
  readonly machineArn?: string | undefined;
  /** What links to images begin with, for a function that makes them. */
  readonly mediaUrl?: string | undefined;
}

const secretSettings = {
  keyPepper: 'KEY_PEPPER_SECRET',
  providerKeys: 'PROVIDER_KEYS_SECRET',
  botToken: 'BOT_TOKEN_SECRET',
  topUpKey: 'TOP_UP_KEY_SECRET',
} as const satisfies Record<SecretName, keyof FunctionSettings>;

export const toSettings = (
  name: FunctionName,
  { environment, data, machineArn, mediaUrl }: SettingsSource,
): FunctionSettings => {
  const { secrets, tables } = functions[name];
  const times = tables.some(({ table }) => table === 'videos') ? Object.entries(environment.videos) : [];
  return {
    ACCOUNTS_TABLE: data.tables.accounts.tableName,
    KEYS_TABLE: data.tables.keys.tableName,
    COUNTERS_TABLE: data.tables.counters.tableName,
    IDEMPOTENCY_TABLE: data.tables.idempotency.tableName,
    VIDEOS_TABLE: data.tables.videos.tableName,
    MEDIA_BUCKET: data.media.bucketName,
    MARKUP: environment.markup,
    LOG_FORMAT: 'json',
    ...Object.fromEntries(secrets.map((secret) => [secretSettings[secret], data.secrets[secret].secretArn])),
    ...Object.fromEntries(times.map(([time, value]) => [time, String(value)])),
    ...(machineArn === undefined ? {} : { VIDEO_MACHINE_ARN: machineArn }),
    ...(mediaUrl === undefined ? {} : { MEDIA_URL: mediaUrl }),
    ...(functions[name].showsApp ? toBotSettings(environment) : {}),
  };
};

const toBotSettings = ({ publicUrl, bot }: Environment): Partial<FunctionSettings> => ({
  START_CREDIT_USD: bot.startCreditUsd,
  ...(publicUrl === undefined ? {} : { PUBLIC_URL: publicUrl }),
  ...(bot.topUpText === undefined ? {} : { TOP_UP_TEXT: bot.topUpText }),
});
