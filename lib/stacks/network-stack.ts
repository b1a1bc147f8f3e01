import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import {
  CfnEIP,
  FlowLogDestination,
  FlowLogTrafficType,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type ISubnet,
  NatProvider,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { addLogGroup } from '../constructs/function-role.ts';
import type { ProviderNetwork } from '../constructs/provider-network.ts';
import type { Environment } from '../environments.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

type CreatedNetwork = Extract<Environment['network'], { readonly kind: 'created' }>;

export interface NetworkStackProps extends GatewayStackProps {
  readonly network: CreatedNetwork;
}

/** VPC whose NAT gateways have the fixed addresses that providers see. */
export class NetworkStack extends GatewayStack implements ProviderNetwork {
  readonly vpc: Vpc;
  readonly subnets: readonly ISubnet[];
  readonly securityGroups: readonly SecurityGroup[];

  constructor(scope: Construct, id: string, props: NetworkStackProps) {
    super(scope, id, props, {
      description: 'Model gateway: the VPC, the NAT gateways and the fixed IP addresses of calls to providers.',
    });
    const { network, environment, prefix } = props;
    const addresses = this.#addAddresses(network, environment);
    this.vpc = new Vpc(this, 'vpc', {
      vpcName: prefix,
      ipAddresses: IpAddresses.cidr(network.cidr),
      maxAzs: 2,
      natGateways: network.natGateways,
      natGatewayProvider: NatProvider.gateway({
        eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
      }),
      subnetConfiguration: [
        { name: 'public', subnetType: SubnetType.PUBLIC, mapPublicIpOnLaunch: false },
        { name: 'private', subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      ],
      // Both endpoints are free, and keep the traffic of the stores off the NAT gateways, which charge for each GB.
      gatewayEndpoints: {
        dynamodb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
        s3: { service: GatewayVpcEndpointAwsService.S3 },
      },
      // Nothing uses the default security group, and restricting it needs a function with rights of its own.
      restrictDefaultSecurityGroup: false,
    });
    this.subnets = this.vpc.privateSubnets;
    // Clients choose the hosts and ports of webhooks and images. The functions reject private addresses.
    this.securityGroups = [
      new SecurityGroup(this, 'functions', { vpc: this.vpc, description: 'Functions that call providers' }),
    ];
    this.#logRejected(props);
  }

  /** Adds the addresses apart from the NAT gateways, so that they outlive them: providers may have them in lists. */
  #addAddresses({ natGateways }: CreatedNetwork, { keepsData }: Environment): readonly CfnEIP[] {
    return Array.from({ length: natGateways }, (_, index) => {
      const address = new CfnEIP(this, `address-${index + 1}`, { domain: 'vpc' });
      address.applyRemovalPolicy(keepsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY);
      new CfnOutput(this, `egressAddress${index + 1}`, { value: address.attrPublicIp });
      return address;
    });
  }

  /** Logs rejected connections only: accepted ones are in the request log. */
  #logRejected({ environment, prefix }: NetworkStackProps): void {
    const log = addLogGroup(this, `/aws/vpc/${prefix}`, environment, 'rejected-log');
    const role = new Role(this, 'rejected-role', { assumedBy: new ServicePrincipal('vpc-flow-logs.amazonaws.com') });
    this.vpc.addFlowLog('rejected', {
      destination: FlowLogDestination.toCloudWatchLogs(log, role),
      trafficType: FlowLogTrafficType.REJECT,
    });
  }
}
