import { RemovalPolicy } from 'aws-cdk-lib';
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import type { BucketGrant, FunctionDescription, SecretName, TableGrant } from '../function-description.ts';
import type { DataStack } from '../stacks/data-stack.ts';

export interface FunctionRoleProps {
  readonly description: FunctionDescription;
  readonly data: DataStack;
  readonly secrets: readonly SecretName[];
  /** Whether the function sends its spans to X-Ray. */
  readonly writesSpans?: boolean | undefined;
  /** ARN of the parameter with the public URL, for a function that reads it. */
  readonly parameterArn?: string | undefined;
  /** ARN of the state machine, for a function that starts executions. */
  readonly machineArn?: string | undefined;
  /** ARN of the function, if it runs in a VPC. */
  readonly networkedArn?: string | undefined;
}

/** Creates a role with exactly the permissions in the description. CDK's own role could write to every log group. */
export const addFunctionRole = (
  scope: Construct,
  { description, data, secrets, writesSpans, parameterArn, machineArn, networkedArn }: FunctionRoleProps,
): Role => {
  const role = new Role(scope, 'role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  for (const grant of description.tables) role.addToPolicy(toStatement(grant, data));
  for (const statement of description.buckets.flatMap((grant) => toStatements(grant, data)))
    role.addToPolicy(statement);
  for (const secret of secrets) role.addToPolicy(allow(['secretsmanager:GetSecretValue'], data.secretArnOf(secret)));
  // X-Ray has no resources for these actions. Its OTLP endpoint needs them, and `AWSXrayWriteOnlyAccess` lacks them. CDK
  // adds the actions for segments, because Lambda's own tracing is on.
  // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html (2026-11-27)
  if (writesSpans) role.addToPolicy(allow(['xray:PutSpans', 'xray:PutSpansForIndexing'], '*'));
  if (parameterArn !== undefined) role.addToPolicy(allow(['ssm:GetParameter'], parameterArn));
  if (machineArn !== undefined) role.addToPolicy(allow(['states:StartExecution'], machineArn));
  if (networkedArn !== undefined) for (const statement of inVpc(networkedArn)) role.addToPolicy(statement);
  return role;
};

const interfaceActions = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
];

/**
 * Returns the statements of a function in a VPC. Lambda manages the network interfaces with the role of the function. The
 * function itself may not use these rights.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
 */
const inVpc = (functionArn: string): readonly PolicyStatement[] => [
  new PolicyStatement({ actions: interfaceActions, resources: ['*'] }),
  new PolicyStatement({
    effect: Effect.DENY,
    actions: interfaceActions,
    resources: ['*'],
    conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
  }),
];

/**
 * Creates a log group. A retained group keeps its name and would block a later group, so the next deployment imports
 * it. CloudFormation requires a name without references and this removal policy for that. A group from a failed
 * deployment is deleted.
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
 * Returns the statements of a grant. A function that reads objects which may be missing needs `ListBucket`: without it,
 * S3 returns 403 instead of 404. It has no `s3:prefix` condition, because sources disagree on how that condition
 * affects reads.
 */
const toStatements = ({ prefix, actions }: BucketGrant, { media }: DataStack): readonly PolicyStatement[] => {
  const onObjects = actions.filter((action) => action !== 'ListBucket').map((action) => `s3:${action}`);
  const listing = actions.includes('ListBucket') ? [allow(['s3:ListBucket'], media.bucketArn)] : [];
  return [allow(onObjects, media.arnForObjects(`${prefix}*`)), ...listing];
};
