import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';

export interface GatewayStackProps {
  readonly environment: Environment;
  /** Prefix of the names of the stack and its resources. */
  readonly prefix: string;
}

export interface GatewayStackOptions extends Pick<StackProps, 'crossRegionReferences'> {
  /** Content of the stack in one sentence, for CloudFormation. At most 1,024 bytes. */
  readonly description: string;
  /** Region of the stack. The default is the environment's region. */
  readonly region?: string;
}

/** Stack of an environment, with its region, name, description and termination protection. */
export class GatewayStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { environment, prefix }: GatewayStackProps,
    { description, region = environment.region, crossRegionReferences }: GatewayStackOptions,
  ) {
    super(scope, id, {
      env: { region },
      crossRegionReferences,
      description,
      stackName: `${prefix}-${id}`,
      terminationProtection: environment.terminationProtection,
    });
  }
}
