import { Duration } from 'aws-cdk-lib';
import { Architecture, Function as LambdaFunction, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import { type EventFunctionName, type FunctionName, functions } from '../functions.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import { bundledCode } from './bundled-code.ts';
import { addFunctionRole, addLogGroup } from './function-role.ts';
import { toSettings } from './function-settings.ts';

export interface GatewayFunctionProps<Name extends FunctionName = EventFunctionName> {
  readonly name: Name;
  /** Before the name, in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly data: DataStack;
  /** Of the state machine, for a function that starts executions of it. */
  readonly machineArn?: string | undefined;
  /** What links to images begin with, for a function that makes them. */
  readonly mediaUrl?: string | undefined;
}

/** A function as `functions.ts` describes it: its code, its settings, its log, and a role of its own. */
export class GatewayFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, props: GatewayFunctionProps) {
    const { name, prefix, environment, data, machineArn } = props;
    super(scope, name);
    const description = functions[name];
    const functionName = `${prefix}-${name}`;
    const logGroup = addLogGroup(this, `/aws/lambda/${functionName}`, environment);
    const role = addFunctionRole(this, { description, data, machineArn });
    logGroup.grantWrite(role);
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
      environment: { ...toSettings(name, props), POWERTOOLS_SERVICE_NAME: functionName },
    });
  }
}
