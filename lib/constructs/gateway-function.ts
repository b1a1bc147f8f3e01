import { Duration } from 'aws-cdk-lib';
import { Architecture, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import type { EventFunctionDescription, FunctionDescription } from '../function-description.ts';
import type { FunctionName } from '../functions.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import { bundledCode } from './bundled-code.ts';
import { addFunctionRole, addLogGroup } from './function-role.ts';
import { toGrants, toSettings } from './function-settings.ts';

/** Values that override those of the descriptions, by function. */
type Overrides = Readonly<Partial<Record<FunctionName, number>>>;

export interface GatewayFunctionProps<Description extends FunctionDescription = EventFunctionDescription> {
  readonly name: FunctionName;
  readonly description: Description;
  /** Prefix of the name in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly data: DataStack;
  /** ARN of the state machine, for a function that starts executions. */
  readonly machineArn?: string | undefined;
  /** Base URL of image links, for a function that creates them. */
  readonly mediaUrl?: string | undefined;
  /** URL that must refuse a direct call, for a function that checks the gateway. */
  readonly directUrl?: string | undefined;
}

/** Lambda function with its code, settings, log group and role, according to its description. */
export class GatewayFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, props: GatewayFunctionProps) {
    const { name, description, prefix, environment, data, machineArn } = props;
    super(scope, name);
    const functionName = `${prefix}-${name}`;
    const memory: Overrides = environment.memoryMb;
    const reserved: Overrides = environment.reservedConcurrency;
    const logGroup = addLogGroup(this, `/aws/lambda/${functionName}`, environment);
    const role = addFunctionRole(this, { description, data, machineArn, ...toGrants(this, props) });
    logGroup.grantWrite(role);
    this.lambda = new LambdaFunction(this, 'function', {
      functionName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: bundledCode(name, description),
      handler: 'index.handler',
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      timeout: Duration.seconds(description.timeoutSeconds),
      memorySize: memory[name] ?? description.memoryMb,
      reservedConcurrentExecutions: reserved[name],
      environment: {
        ...toSettings(name, props),
        FUNCTION_NAME: functionName,
        // Distinguishes the environments of one AWS account in logs and metrics.
        POWERTOOLS_SERVICE_NAME: prefix,
      },
    });
  }
}
