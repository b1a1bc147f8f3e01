import { Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';

export interface GatewayStackProps {
  readonly environment: Environment;
  /** Before the stack's name, and those of what is in it. */
  readonly prefix: string;
}

export interface GatewayStackOptions extends Pick<StackProps, 'crossRegionReferences'> {
  /** Unless it is the environment's. */
  readonly region?: string;
}

/** What every stack of an environment has: its place, its name, and the protection that the environment asks for. */
export class GatewayStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    { environment, prefix }: GatewayStackProps,
    { region = environment.region, crossRegionReferences }: GatewayStackOptions = {},
  ) {
    super(scope, id, {
      env: { region },
      crossRegionReferences,
      stackName: `${prefix}-${id}`,
      terminationProtection: environment.terminationProtection,
    });
  }
}
