import { Stack } from 'aws-cdk-lib';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
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
    super(scope, id, {
      env: { region: 'us-east-1' },
      crossRegionReferences: true,
      stackName: `${prefix}-${id}`,
      terminationProtection: environment.terminationProtection,
    });
    this.firewallArn = new Firewall(this, 'firewall', { scope: 'CLOUDFRONT', prefix, environment }).arn;
    this.certificateArn = environment.domain && certificateOf(this, environment.domain);
  }
}

/** The one there is, or a new one that the hosted zone proves: the zone is named, not looked up. */
const certificateOf = (
  stack: Stack,
  { name, hostedZone, certificateArn }: NonNullable<Environment['domain']>,
): string | undefined => {
  if (certificateArn !== undefined || !hostedZone) return certificateArn;
  const zone = HostedZone.fromHostedZoneAttributes(stack, 'zone', {
    hostedZoneId: hostedZone.id,
    zoneName: hostedZone.name,
  });
  const validation = CertificateValidation.fromDns(zone);
  return new Certificate(stack, 'certificate', { domainName: name, validation }).certificateArn;
};
