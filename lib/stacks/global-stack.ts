import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { certificateOf, zoneOf } from '../constructs/domain-certificate.ts';
import { Firewall } from '../constructs/firewall.ts';
import type { Environment } from '../environments.ts';

export interface GlobalStackProps {
  readonly environment: Environment;
  /** Before the stack's name. */
  readonly prefix: string;
}

/** What CloudFront takes from us-east-1 and nowhere else, and needs before it stands: the firewall and the certificate. */
export class GlobalStack extends Stack {
  readonly firewallArn: string;
  /** Undefined without a domain. */
  readonly certificateArn: string | undefined;

  constructor(scope: Construct, id: string, { environment, prefix }: GlobalStackProps) {
    const { domain } = environment;
    super(scope, id, {
      env: { region: 'us-east-1' },
      crossRegionReferences: true,
      stackName: `${prefix}-${id}`,
      terminationProtection: environment.terminationProtection,
    });
    this.firewallArn = new Firewall(this, 'firewall', { scope: 'CLOUDFRONT', prefix, environment }).arn;
    this.certificateArn = domain && certificateOf(this, domain, zoneOf(this, domain)).certificateArn;
  }
}
