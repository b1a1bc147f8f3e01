import { expect, test } from 'vitest';
import { ofType } from './synthesize.ts';
import { only, withRestApi } from './synthesize-rest-api.ts';

test('OPS-1 a domain has its certificate and its record, takes TLS 1.2 and newer, and is the only address', () => {
  const named = withRestApi({ domain: { name: 'api.example.com', hostedZone: { id: 'ZONE', name: 'example.com' } } });
  expect(only('AWS::ApiGateway::RestApi', named)).toMatchObject({ DisableExecuteApiEndpoint: true });
  expect(only('AWS::ApiGateway::DomainName', named)).toMatchObject({
    DomainName: 'api.example.com',
    EndpointConfiguration: { Types: ['REGIONAL'] },
    SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PQ_2025_09',
    EndpointAccessMode: 'STRICT',
  });
  // Paths come as they are.
  expect(only('AWS::ApiGateway::BasePathMapping', named).BasePath).toBeUndefined();
  expect(only('AWS::CertificateManager::Certificate', named)).toMatchObject({
    DomainName: 'api.example.com',
    ValidationMethod: 'DNS',
    DomainValidationOptions: [{ HostedZoneId: 'ZONE' }],
  });
  expect(only('AWS::Route53::RecordSet', named)).toMatchObject({ Name: 'api.example.com.', Type: 'A' });
  expect(named.outputs.publicUrl?.Value).toBe('https://api.example.com');
});

test('OPS-1 a certificate that exists is taken as it is, and no record is made where there is no zone', () => {
  const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/one';
  const owned = withRestApi({ domain: { name: 'api.example.com', certificateArn } });
  expect(only('AWS::ApiGateway::DomainName', owned)).toMatchObject({ RegionalCertificateArn: certificateArn });
  expect(ofType(owned, 'AWS::CertificateManager::Certificate')).toEqual([]);
  expect(ofType(owned, 'AWS::Route53::RecordSet')).toEqual([]);
});
