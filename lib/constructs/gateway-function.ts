import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { SettingsInput } from '../../lambdas/settings.ts';
import type { Environment } from '../environments.ts';
import { type BucketGrant, type FunctionName, functions, type TableGrant } from '../functions.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import { bundledCode } from './bundled-code.ts';

/** The settings as Lambda keeps them: text. What a function cannot do without cannot be left out. */
export type FunctionSettings = { readonly [Name in keyof SettingsInput]: string };

export interface GatewayFunctionProps {
  readonly name: FunctionName;
  /** Before the name, in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly settings: FunctionSettings;
  readonly data: DataStack;
}

/** A function as `functions.ts` describes it: its code, its log, and a role that may do what is said there and no more. */
export class GatewayFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, { name, prefix, environment, settings, data }: GatewayFunctionProps) {
    super(scope, name);
    const description = functions[name];
    const functionName = `${prefix}-${name}`;
    const logGroup = new LogGroup(this, 'log', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: environment.logRetentionDays,
      removalPolicy: environment.keepsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    // A role of its own: the one CDK would make may write to any log group.
    const role = new Role(this, 'role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    logGroup.grantWrite(role);
    for (const grant of description.tables) role.addToPolicy(toStatement(grant, data));
    for (const statement of description.buckets.flatMap((grant) => toStatements(grant, data)))
      role.addToPolicy(statement);
    for (const secret of description.secrets)
      role.addToPolicy(allow(['secretsmanager:GetSecretValue'], data.secrets[secret].secretArn));
    this.lambda = new LambdaFunction(this, 'function', {
      functionName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: bundledCode(name, description.entry),
      handler: 'index.handler',
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      timeout: Duration.seconds(description.timeoutSeconds),
      memorySize: environment.memoryMb[name] ?? description.memoryMb,
      reservedConcurrentExecutions: environment.reservedConcurrency[name],
      // The name tells the environments of one account apart in logs and metrics.
      environment: { ...settings, POWERTOOLS_SERVICE_NAME: functionName },
    });
  }
}

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

const allow = (actions: string[], resource: string): PolicyStatement =>
  new PolicyStatement({ actions, resources: [resource] });
