import { Annotations } from 'aws-cdk-lib';
import { type ISecurityGroup, type ISubnet, type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import type { Construct } from 'constructs';
import { hostOf } from '../environment-schema.ts';
import type { Environment } from '../environments.ts';
import type { FunctionDescription } from '../function-description.ts';
import type { FunctionName } from '../functions.ts';

/** Network from which the functions that call providers start their connections. */
export interface ProviderNetwork {
  readonly vpc: IVpc;
  readonly subnets: readonly ISubnet[];
  readonly securityGroups: readonly ISecurityGroup[];
}

/** Returns the network of an environment: the created one, or the imported one of its owner. Undefined: that of AWS. */
export const networkOf = (
  scope: Construct,
  { network }: Environment,
  created: ProviderNetwork | undefined,
): ProviderNetwork | undefined => {
  if (network?.kind !== 'existing') return created;
  const { vpcId, subnetIds, securityGroupIds } = network;
  // Nothing reads the names of the availability zones, of which CDK requires one per subnet.
  const vpc = Vpc.fromVpcAttributes(scope, 'provider-vpc', {
    vpcId,
    availabilityZones: subnetIds,
    privateSubnetIds: subnetIds,
  });
  Annotations.of(vpc).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId', 'Nothing reads the route tables.');
  return {
    vpc,
    subnets: vpc.privateSubnets,
    securityGroups: securityGroupIds.map((id) =>
      SecurityGroup.fromSecurityGroupId(scope, `provider-${id}`, id, { mutable: false }),
    ),
  };
};

/**
 * Whether a function calls providers, and so belongs in their network. An unused host of inference stays outside: it has
 * a function URL, which cannot stream from a VPC.
 */
export const callsProviders = (
  environment: Environment,
  name: FunctionName,
  { secrets }: Pick<FunctionDescription, 'secrets'>,
): boolean => secrets.includes('providerKeys') && hostOf(environment, name) === name;
