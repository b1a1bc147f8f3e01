import type { Command } from 'commander';
import type { KeyChange, NewKeyChange } from '../../lambdas/core/accounts/key-change.ts';
import { GatewayError } from '../../lambdas/core/errors/gateway-error.ts';
import { readKeyChange, readNewKey } from '../../lambdas/protocols/keys/key-request.ts';
import { misused, refused } from '../exit.ts';

/** Options of the properties of an API key. `none` removes a restriction or a right. */
export interface KeyOptions {
  readonly name?: string;
  readonly limitUsd?: string;
  readonly limitPeriod?: string;
  readonly expiresAt?: string;
  readonly models?: string;
  readonly requestsPerSecond?: string;
  readonly rights?: string;
}

export const withProperties = (command: Command): Command =>
  command
    .option('--limit-usd <amount>', 'cap of the spending in USD, or none')
    .option('--limit-period <period>', 'period of the cap in UTC: total, day or month')
    .option('--expires-at <time>', 'time such as 2026-12-31T00:00:00Z, or none')
    .option('--models <ids>', 'ids of the models that the key can call, separated by commas, or none for all')
    .option('--requests-per-second <number>', 'rate of the key, or none')
    .option('--rights <rights>', 'manage: the key can manage the keys of the account; or none');

const orNull = (text: string | undefined): string | null | undefined => (text === 'none' ? null : text);

/** Returns the options as the body of the API, which checks them. */
const toBody = (options: KeyOptions) => {
  const { name, limitPeriod, rights } = options;
  const models = orNull(options.models);
  const rate = orNull(options.requestsPerSecond);
  return {
    name,
    limit_usd: orNull(options.limitUsd),
    limit_period: limitPeriod,
    expires_at: orNull(options.expiresAt),
    models: models?.split(',').map((id) => id.trim()) ?? models,
    requests_per_second: rate ? Number(rate) : rate,
    rights: rights === 'none' ? [] : rights?.split(','),
  };
};

/** Throws a CliError for an invalid option. */
export const readNewKeyOptions = (options: KeyOptions): NewKeyChange => {
  if (options.limitPeriod !== undefined && options.limitUsd === undefined) throw misused(PERIOD_ALONE);
  refuseUnclear(options);
  return reading(() => readNewKey(toBody(options)));
};

/** Throws a CliError for an invalid option, and if no option changes the key. */
export const readKeyChangeOptions = (options: KeyOptions): KeyChange => {
  const body = toBody(options);
  if (Object.values(body).every((value) => value === undefined)) {
    const names = Object.keys(body).map(toOption);
    throw misused(`No option changes the API key. Use at least one of ${names.join(', ')}.`);
  }
  refuseUnclear(options);
  return reading(() => readKeyChange(body));
};

const PERIOD_ALONE = '--limit-period: requires --limit-usd with an amount. Use both, or neither.';

/** Rejects what the check of the API body describes in words of JSON only. */
const refuseUnclear = ({ limitUsd, limitPeriod, models }: KeyOptions): void => {
  if (limitUsd === 'none' && limitPeriod !== undefined) throw misused(PERIOD_ALONE);
  if (models?.split(',').some((id) => id.trim() === ''))
    throw misused('--models: contains an empty id. Use ids separated by commas, or none for all models.');
};

const reading = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof GatewayError) throw misused(toOptionText(error.message));
    throw error;
  }
};

interface ChangedAt {
  readonly accountId: string;
  /** Undefined for a new key. */
  readonly keyId?: string;
  readonly isFirst?: boolean;
}

/** Values of these fields are invalid for every named key, so the command line is wrong. */
const VALUE_FIELDS = /^(models|expires_at|requests_per_second)\b/;

/** Converts a rejected change of an API key into a CliError that names the options. Returns other errors unchanged. */
export const toKeyError = (error: unknown, { accountId, keyId, isFirst = false }: ChangedAt): unknown => {
  if (!(error instanceof GatewayError)) return error;
  if (error.code === 'not_found' && keyId !== undefined)
    return refused(`${accountId}: has no API key with the id ${keyId}. List them with \`keys list\`.`);
  if (error.status !== 400) return error;
  const text = toOptionText(error.message);
  return !isFirst && VALUE_FIELDS.test(error.param ?? '') ? misused(text) : refused(text);
};

const toOption = (field: string): string => `--${field.replaceAll('_', '-')}`;

/** Returns a message of the API with options in place of fields. */
const toOptionText = (message: string): string =>
  message
    .replace(/^(name|models|rights)(\[\d+\])?:/, (_, field: string) => `${toOption(field)}:`)
    .replaceAll(/\b(limit_usd|limit_period|expires_at|requests_per_second)\b/g, toOption)
    .replace('with models cannot', 'with --models cannot')
    .replace('Send null', 'Use none')
    .replace('Send ', 'Use ');
