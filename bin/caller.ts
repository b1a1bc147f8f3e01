import { CONFIG_FILE, environmentOf } from './config.ts';
import { failed, misused, whyOf } from './exit.ts';
import type { Terminal } from './terminal.ts';

/** Identity of the AWS credentials in the shell. */
export interface Caller {
  /** Number of the AWS account, 12 digits. */
  readonly account: string;
  readonly arn: string;
}

/** Timeouts of calls that an operator waits for. */
export const callTimeouts = { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/**
 * Compares the AWS account of the credentials with that of the environment, unless it accepts every account. Makes no
 * other call. Throws a CliError.
 */
export const guardAccount = async (name: string, { environment }: Terminal): Promise<void> => {
  if (allowedAccount(name) !== 'any') await readAllowedCaller(name, environment.AWS_PROFILE);
};

/** Returns the owner of the credentials. Throws a CliError unless the environment accepts its AWS account. */
export const readAllowedCaller = async (name: string, profile: string | undefined): Promise<Caller> => {
  const allowed = allowedAccount(name);
  const caller = await readCaller(environmentOf(name).region, profile);
  if (allowed === 'any' || allowed === caller.account) return caller;
  throw misused(
    `environments.${name}.account: is ${allowed}, but the AWS credentials are for ${caller.account}. Set AWS_PROFILE, or correct the account in ${CONFIG_FILE}.`,
  );
};

const allowedAccount = (name: string): string => {
  const { account } = environmentOf(name);
  if (account !== undefined) return account;
  throw misused(
    `environments.${name}.account: not set. Set the number of its AWS account in ${CONFIG_FILE}, or 'any' to accept every account.`,
  );
};

/** Every caller may ask STS for its identity, so this needs no permission. */
const readCaller = async (region: string, profile: string | undefined): Promise<Caller> => {
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  const client = new STSClient({ region, requestHandler: callTimeouts });
  try {
    const { Account: account = '', Arn: arn = '' } = await client.send(new GetCallerIdentityCommand({}));
    return { account, arn };
  } catch (error) {
    const missing = error instanceof Error && error.name === 'CredentialsProviderError';
    const problem = missing ? 'not found' : `not accepted in ${region}`;
    const login = profile ? `Log in to the profile ${profile} that AWS_PROFILE names` : 'Log in, and set AWS_PROFILE';
    const advice = missing ? login : `${login}, or check that the region exists and is enabled in the account`;
    throw failed(`AWS credentials: ${problem} (${whyOf(error)}). ${advice}.`, error);
  } finally {
    client.destroy();
  }
};
