import { type EnvironmentName, environments } from '../lib/environments.ts';
import { type TableName, tableNames } from '../lib/tables.ts';
import { failed, whyOf } from './exit.ts';
import type { Environment } from './terminal.ts';

/** What the functions know each table by. */
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

/** The names of an environment's tables, bucket and secrets, from what its stack tells, and its settings as they were deployed. */
export const readStack = async (name: EnvironmentName, environment: Environment): Promise<Environment> => {
  const stack = `gateway-${name}-data`;
  const outputs = await readOutputs(stack, environment);
  const of = (output: string): string => {
    const value = outputs.get(output);
    if (!value) throw failed(`The stack ${stack} has no output ${output}. Deploy it anew.`);
    return value;
  };
  const { markup, publicUrl, videos } = environments[name];
  const times = Object.entries(videos).map(([variable, value]) => [variable, String(value)]);
  return {
    ...Object.fromEntries(tableNames.map((table) => [tableVariables[table], of(`${table}TableName`)])),
    ...Object.fromEntries(
      Object.entries(secretVariables).map(([secret, variable]) => [variable, of(`${secret}SecretArn`)]),
    ),
    ...Object.fromEntries(times),
    // Secrets of this shell are not those of the environment.
    KEY_PEPPER: undefined,
    BOT_TOKEN: undefined,
    TOP_UP_KEY: undefined,
    MEDIA_BUCKET: of('mediaBucketName'),
    MARKUP: markup,
    PUBLIC_URL: publicUrl,
  };
};

const readOutputs = async (StackName: string, { AWS_REGION }: Environment): Promise<ReadonlyMap<string, string>> => {
  const { CloudFormationClient, DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({ ...(AWS_REGION ? { region: AWS_REGION } : {}) });
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const outputs = stack?.Outputs ?? [];
    return new Map(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError') {
      throw failed(`There is no stack ${StackName}. Check AWS_PROFILE and AWS_REGION, or deploy it.`, error);
    }
    throw failed(`CloudFormation did not tell about the stack ${StackName}: ${whyOf(error)}`, error);
  } finally {
    client.destroy();
  }
};
