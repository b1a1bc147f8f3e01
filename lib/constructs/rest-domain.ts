import {
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type IRestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import { certificateOf, type Domain, zoneOf } from './domain-certificate.ts';

export interface RestDomainProps {
  readonly domain: Domain;
  readonly api: IRestApi;
}

export interface RestDomain {
  readonly url: string;
  readonly certificateArn: string;
}

/** Maps a domain to a REST API without a base path, so that paths reach the functions unchanged. */
export const addRestDomain = (scope: Construct, { domain, api }: RestDomainProps): RestDomain => {
  const { name } = domain;
  const zone = zoneOf(scope, domain);
  const certificate = certificateOf(scope, domain, zone);
  const domainName = new DomainName(scope, 'domain', {
    domainName: name,
    certificate,
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS13_1_2_PQ_2025_09,
    endpointAccessMode: EndpointAccessMode.STRICT,
    mapping: api,
  });
  if (zone) {
    const target = RecordTarget.fromAlias(new ApiGatewayDomain(domainName));
    new ARecord(scope, 'address', { zone, recordName: name, target });
  }
  return { url: `https://${name}`, certificateArn: certificate.certificateArn };
};
