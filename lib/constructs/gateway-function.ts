import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import { Architecture, Code, Function as LambdaFunction, LayerVersion, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Environment } from '../environments.ts';
import type { EventFunctionDescription, FunctionDescription } from '../function-description.ts';
import type { FunctionName } from '../functions.ts';
import type { DataStack } from '../stacks/data-stack.ts';
import { codeOf } from './bundled-code.ts';
import { addFunctionRole, addLogGroup } from './function-role.ts';
import { collectorLayerOf, toGrants, toSettings } from './function-settings.ts';
import type { ProviderNetwork } from './provider-network.ts';

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
  /** Network of a function that calls providers, if it is not that of AWS. */
  readonly network?: ProviderNetwork | undefined;
}

/** Lambda function with its code, settings, log group and role, according to its description. */
export class GatewayFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, props: GatewayFunctionProps) {
    const { name, description, prefix, environment, data, machineArn, network } = props;
    super(scope, name);
    const functionName = `${prefix}-${name}`;
    const { path, options } = codeOf(name, description);
    const memory: Overrides = environment.memoryMb;
    const reserved: Overrides = environment.reservedConcurrency;
    const logGroup = addLogGroup(this, `/aws/lambda/${functionName}`, environment);
    const networkedArn = network && arnOf(this, functionName);
    const role = addFunctionRole(this, { description, data, machineArn, networkedArn, ...toGrants(this, props) });
    logGroup.grantWrite(role);
    const layerArn = collectorLayerOf(name, environment);
    this.lambda = new LambdaFunction(this, 'function', {
      functionName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(path, options),
      handler: 'index.handler',
      role,
      logGroup,
      tracing: Tracing.ACTIVE,
      ...(layerArn !== undefined && { layers: [LayerVersion.fromLayerVersionArn(this, 'collector', layerArn)] }),
      timeout: Duration.seconds(description.timeoutSeconds),
      memorySize: memory[name] ?? description.memoryMb,
      reservedConcurrentExecutions: reserved[name],
      ...(network && {
        vpc: network.vpc,
        vpcSubnets: { subnets: [...network.subnets] },
        securityGroups: [...network.securityGroups],
      }),
      environment: {
        ...toSettings(name, props),
        FUNCTION_NAME: functionName,
        // Distinguishes the environments of one AWS account in logs and metrics.
        POWERTOOLS_SERVICE_NAME: prefix,
      },
    });
  }
}

/** Returns the ARN of a function by its name. A reference to the function would be a cycle in its role. */
const arnOf = (scope: Construct, resourceName: string): string =>
  Stack.of(scope).formatArn({
    service: 'lambda',
    resource: 'function',
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
