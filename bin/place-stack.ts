import { readParameter, readPublicUrl } from '../lambdas/functions/wiring/public-url.ts';
import { prefixOf } from '../lib/environments.ts';
import { publicUrlOf, publicUrlParameter } from '../lib/public-url.ts';
import { type TableName, tableNames } from '../lib/tables.ts';
import { environmentOf } from './config.ts';
import { failed, whyOf } from './exit.ts';
import type { Environment } from './terminal.ts';

/** Environment variable of the functions for each table. */
export const tableVariables: Readonly<Record<TableName, string>> = {
  accounts: 'ACCOUNTS_TABLE',
  keys: 'KEYS_TABLE',
  idempotency: 'IDEMPOTENCY_TABLE',
  counters: 'COUNTERS_TABLE',
  videos: 'VIDEOS_TABLE',
};

const secretVariables = {
  keyPepper: 'KEY_PEPPER_SECRET',
  providerKeys: 'PROVIDER_KEYS_SECRET',
  botToken: 'BOT_TOKEN_SECRET',
  topUpKey: 'TOP_UP_KEY_SECRET',
} as const;

/** Variable with the ARN of the secret of the canary. Only an environment with a canary has it. */
export const CANARY_KEY_SECRET = 'CANARY_KEY_SECRET';

/**
 * Reads the names of an environment's tables, bucket and secrets from its stack outputs, and adds its public URL and
 * deployed settings. Uses the region of the environment, not that of the shell. Throws a CliError.
 */
export const readStack = async (name: string): Promise<Environment> => {
  const { region, markup, catalogs, videos } = environmentOf(name);
  const stack = `${prefixOf(name)}-data`;
  const outputs = await readOutputs(stack, region);
  const of = (output: string): string => {
    const value = outputs.get(output);
    if (!value) throw failed(`The stack ${stack} has no output ${output}. Deploy this version of the stack.`);
    return value;
  };
  const times = Object.entries(videos).map(([variable, value]) => [variable, String(value)]);
  return {
    ...Object.fromEntries(tableNames.map((table) => [tableVariables[table], of(`${table}TableName`)])),
    ...Object.fromEntries(
      Object.entries(secretVariables).map(([secret, variable]) => [variable, of(`${secret}SecretArn`)]),
    ),
    ...Object.fromEntries(times),
    [CANARY_KEY_SECRET]: outputs.get('canaryKeySecretArn'),
    // Secrets in the shell do not belong to this environment.
    KEY_PEPPER: undefined,
    BOT_TOKEN: undefined,
    TOP_UP_KEY: undefined,
    AWS_REGION: region,
    MEDIA_BUCKET: of('mediaBucketName'),
    MARKUP: markup,
    CATALOGS: catalogs.join(','),
    PUBLIC_URL: await readAddress(name),
  };
};

/** Undefined without a front door, before its deployment, or without permission to read the parameter. */
const readAddress = async (name: string): Promise<string | undefined> => {
  const parameter = publicUrlParameter(prefixOf(name));
  const known = { PUBLIC_URL: publicUrlOf(environmentOf(name)), PUBLIC_URL_PARAMETER: parameter };
  try {
    return await readPublicUrl(known, (asked) => readParameter(asked, environmentOf(name).region));
  } catch (error) {
    if (error instanceof Error && error.name === 'AccessDeniedException') return undefined;
    throw failed(`The public URL in the parameter ${parameter} cannot be read: ${whyOf(error)}`, error);
  }
};

/** Returns the outputs of a stack by name. Throws a CliError. */
export const readOutputs = async (StackName: string, region: string): Promise<ReadonlyMap<string, string>> => {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ region });
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const outputs = stack?.Outputs ?? [];
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError') {
      throw failed(`The stack ${StackName} does not exist in ${region}. Check AWS_PROFILE, or deploy it.`, error);
    }
    throw failed(`The stack ${StackName} cannot be read from CloudFormation: ${whyOf(error)}`, error);
  } finally {
    client.destroy();
  }
};
