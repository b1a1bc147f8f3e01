import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import type { BucketGrant, FunctionDescription, SecretName, TableGrant } from '../function-description.ts';
import type { DataStack } from '../stacks/data-stack.ts';

export interface FunctionRoleProps {
  readonly description: FunctionDescription;
  readonly data: DataStack;
  readonly secrets: readonly SecretName[];
  /** Of the parameter with the public address, for a function that asks for it. */
  readonly parameterArn?: string | undefined;
  /** Where there is one that the function starts executions of. */
  readonly machineArn?: string | undefined;
}

/** May do what the description says and no more. One of its own: the role CDK would make may write to any log group. */
export const addFunctionRole = (
  scope: Construct,
  { description, data, secrets, parameterArn, machineArn }: FunctionRoleProps,
): Role => {
  const role = new Role(scope, 'role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  for (const grant of description.tables) role.addToPolicy(toStatement(grant, data));
  for (const statement of description.buckets.flatMap((grant) => toStatements(grant, data)))
    role.addToPolicy(statement);
  for (const secret of secrets)
    role.addToPolicy(allow(['secretsmanager:GetSecretValue'], data.secrets[secret].secretArn));
  if (parameterArn !== undefined) role.addToPolicy(allow(['ssm:GetParameter'], parameterArn));
  if (machineArn !== undefined) role.addToPolicy(allow(['states:StartExecution'], machineArn));
  return role;
};

/**
 * What is kept has a name of its own, so that it would stand in the way of a group that comes later: a deployment takes it over, for which
 * CloudFormation wants a name without references and this policy. A group that came with a deployment that failed goes with it.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-automatically.html
 */
export const addLogGroup = (
  scope: Construct,
  logGroupName: string,
  { logRetentionDays, keepsData }: Environment,
  id = 'log',
): LogGroup =>
  new LogGroup(scope, id, {
    logGroupName,
    retention: logRetentionDays,
    removalPolicy: keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  });

export const allow = (actions: string[], resource: string): PolicyStatement =>
  new PolicyStatement({ actions, resources: [resource] });

const toStatement = ({ table, index, actions }: TableGrant, { tables }: DataStack): PolicyStatement => {
  const { tableArn } = tables[table];
  return allow(
    actions.map((action) => `dynamodb:${action}`),
    index === undefined ? tableArn : `${tableArn}/index/${index}`,
  );
};

/**
 * Whoever reads an object that may be missing needs the listing: without it S3 answers 403 instead of 404. It is not kept to the
 * prefix, since a condition on `s3:prefix` concerns requests that list, and the sources differ on what it does to one that reads.
 */
const toStatements = ({ prefix, actions }: BucketGrant, { media }: DataStack): readonly PolicyStatement[] => {
  const onObjects = actions.filter((action) => action !== 'ListBucket').map((action) => `s3:${action}`);
  const listing = actions.includes('ListBucket') ? [allow(['s3:ListBucket'], media.bucketArn)] : [];
  return [allow(onObjects, media.arnForObjects(`${prefix}*`)), ...listing];
};
