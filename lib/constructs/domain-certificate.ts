import { Certificate, CertificateValidation, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import { HostedZone, type IHostedZone } from 'aws-cdk-lib/aws-route53';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';

export type Domain = NonNullable<Environment['domain']>;

/**
 * Returns the hosted zone; undefined without one. Uses its id and name without a lookup, so that synthesis needs no
 * credentials.
 */
export const zoneOf = (scope: Construct, { hostedZone }: Domain): IHostedZone | undefined =>
  hostedZone &&
  HostedZone.fromHostedZoneAttributes(scope, 'zone', { hostedZoneId: hostedZone.id, zoneName: hostedZone.name });

/** Returns the domain's existing certificate, or a new one that the hosted zone validates. */
export const certificateOf = (
  scope: Construct,
  { name, certificateArn }: Domain,
  zone: IHostedZone | undefined,
): ICertificate =>
  certificateArn === undefined
    ? new Certificate(scope, 'certificate', { domainName: name, validation: CertificateValidation.fromDns(zone) })
    : Certificate.fromCertificateArn(scope, 'certificate', certificateArn);
