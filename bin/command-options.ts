import { type Command, InvalidArgumentError, Option } from 'commander';
import { ACCOUNT_ID_RULE } from '../lambdas/core/accounts/account-store.ts';
import { isCreditRef, REF_RULE } from '../lambdas/core/ledger/credit.ts';
import { parseUsd } from '../lambdas/core/money/usd.ts';
import { environmentNames } from './config.ts';
import type { PlaceOptions } from './place.ts';

export interface ReadOptions extends PlaceOptions {
  readonly json?: true;
}

export interface WriteOptions extends ReadOptions {
  readonly dryRun?: true;
  readonly yes?: true;
}

export interface ReasonOptions extends WriteOptions {
  readonly reason: string;
}

export interface MoneyOptions extends ReasonOptions {
  readonly ref: string;
}

export const withJson = (command: Command): Command => command.option('--json', 'print the result as JSON');

export const withPlace = (command: Command): Command =>
  command.addOption(
    new Option(
      '--env <name>',
      'deployed environment; default: the store that ACCOUNTS_TABLE or DYNAMODB_ENDPOINT names, else the local gateway in DATA_DIR',
    ).choices(environmentNames),
  );

export const withReading = (command: Command): Command => withJson(withPlace(command));

/** Adds the options of a command that writes. Without a terminal, `createProgram` requires `--yes` or `--dry-run`. */
export const withWriting = (command: Command): Command =>
  withReading(command)
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--yes', 'do not ask for confirmation');

export const withReason = (command: Command): Command =>
  withWriting(command).requiredOption('--reason <text>', 'why; stored with the account', toText);

export const withMoney = (command: Command): Command =>
  withReason(command).requiredOption(
    '--ref <text>',
    'unique name of this change, such as a payment number; repeating it changes nothing more',
    toRef,
  );

const TEXT_MAX = 500;

const toRef = (text: string): string => {
  if (isCreditRef(text)) return text;
  throw new InvalidArgumentError(`Must be ${REF_RULE}.`);
};

const toText = (text: string): string => {
  if (text.trim() !== '' && !/\p{Cc}/u.test(text) && text.length <= TEXT_MAX) return text.trim();
  throw new InvalidArgumentError(`Must be one line of 1 to ${TEXT_MAX} characters.`);
};

/** Parses USD into pico-USD. Throws InvalidArgumentError unless the amount is above 0. */
export const toAmount = (text: string): bigint => {
  try {
    const picos = parseUsd(text);
    if (picos > 0n) return picos;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new InvalidArgumentError('Must be an amount in USD above 0 with at most 12 decimals, such as 10 or 2.50.');
};

export const toLimit = (text: string): number => {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 1_000) return limit;
  throw new InvalidArgumentError('Must be a whole number from 1 to 1000.');
};

export const accountIdRule = `must be ${ACCOUNT_ID_RULE}`;

/** Reports leave out such accounts, so no customer may have one. */
export const checkIdRule = 'ids that start with gateway-check. are for checks of a deployment. Choose another id';
