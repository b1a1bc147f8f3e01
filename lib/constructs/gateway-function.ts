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

/** In place of what a description says. */
type Overrides = Readonly<Partial<Record<FunctionName, number>>>;

export interface GatewayFunctionProps<Description extends FunctionDescription = EventFunctionDescription> {
  readonly name: FunctionName;
  readonly description: Description;
  /** Before the name, in AWS. */
  readonly prefix: string;
  readonly environment: Environment;
  readonly data: DataStack;
  /** Of the state machine, for a function that starts executions of it. */
  readonly machineArn?: string | undefined;
  /** What links to images begin with, for a function that makes them. */
  readonly mediaUrl?: string | undefined;
}

/** A function as it is described: its code, its settings, its log, and a role of its own. */
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
      code: bundledCode(name, description.entry),
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
        // By it the environments of one account are told apart in logs and metrics.
        POWERTOOLS_SERVICE_NAME: prefix,
      },
    });
  }
}
