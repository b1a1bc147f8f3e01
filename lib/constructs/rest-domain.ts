import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type IRestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import { ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { Environment } from '../environments.ts';

export interface RestDomainProps {
  readonly domain: NonNullable<Environment['domain']>;
  readonly api: IRestApi;
}

/**
 * A name of the gateway's own before a REST API, all of it and without a path, so that paths arrive as clients write them. Answers
 * its address.
 */
export const addRestDomain = (scope: Construct, { domain, api }: RestDomainProps): string => {
  const { name, hostedZone } = domain;
  const zone =
    hostedZone &&
    HostedZone.fromHostedZoneAttributes(scope, 'zone', { hostedZoneId: hostedZone.id, zoneName: hostedZone.name });
  const domainName = new DomainName(scope, 'domain', {
    domainName: name,
    certificate: certificateOf(scope, domain, zone),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09,
    endpointAccessMode: EndpointAccessMode.STRICT,
    mapping: api,
  });
  if (zone) {
    const target = RecordTarget.fromAlias(new ApiGatewayDomain(domainName));
    new ARecord(scope, 'address', { zone, recordName: name, target });
  }
  return `https://${name}`;
};

const certificateOf = (
  scope: Construct,
  { name, certificateArn }: RestDomainProps['domain'],
  zone: IHostedZone | undefined,
): ICertificate => {
  if (certificateArn !== undefined) return Certificate.fromCertificateArn(scope, 'certificate', certificateArn);
  return new Certificate(scope, 'certificate', {
    domainName: name,
    validation: CertificateValidation.fromDns(zone),
  });
};
