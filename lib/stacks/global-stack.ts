import type { Construct } from 'constructs';
import { certificateOf, zoneOf } from '../constructs/domain-certificate.ts';
import { Firewall } from '../constructs/firewall.ts';
import { EDGE_REGION } from '../edge/edge-region.ts';
import { GatewayStack, type GatewayStackProps } from './gateway-stack.ts';

/** Resources for CloudFront that must be in us-east-1 and exist before it: the firewall and the certificate. */
export class GlobalStack extends GatewayStack {
  readonly firewallArn: string;
  /** Undefined without a domain. */
  readonly certificateArn: string | undefined;

  constructor(scope: Construct, id: string, props: GatewayStackProps) {
    super(scope, id, props, {
      description: 'Model gateway: the firewall and the certificate of CloudFront, which AWS requires in us-east-1.',
      region: EDGE_REGION,
      crossRegionReferences: true,
    });
    const { domain } = props.environment;
    this.firewallArn = new Firewall(this, 'firewall', { scope: 'CLOUDFRONT', ...props }).arn;
    this.certificateArn = domain && certificateOf(this, domain, zoneOf(this, domain)).certificateArn;
  }
}
