import { expect, test } from 'vitest';
import * as z from 'zod';
import { routes } from '../../lambdas/routes.ts';
import { inferenceFunctionNames } from '../../lib/inference-functions.ts';
import {
  environmentOf,
  nameOf,
  newApp,
  ofType,
  only,
  pointsAt,
  readGateway,
  type Synthesized,
  synthesize,
  synthesizeEdge,
} from './synthesize.ts';

const { edge, global, api, data, gateway } = synthesizeEdge();
const abroad = synthesizeEdge('cloudfront of another region');
const inZone = synthesizeEdge('cloudfront with a domain');
const withCertificate = synthesizeEdge('cloudfront with a certificate');

const originSchema = z.looseObject({
  Id: z.string(),
  DomainName: z.unknown(),
  OriginCustomHeaders: z.array(z.object({ HeaderName: z.string(), HeaderValue: z.unknown() })).default([]),
});
const behaviourSchema = z.looseObject({
  PathPattern: z.string().default('*'),
  TargetOriginId: z.string(),
  FunctionAssociations: z.array(z.object({ EventType: z.string(), FunctionARN: z.unknown() })),
});
const configSchema = z.looseObject({
  Origins: z.array(originSchema),
  CacheBehaviors: z.array(behaviourSchema),
  DefaultCacheBehavior: behaviourSchema,
});

const configOf = (stack: Synthesized) => {
  const { Properties } = only(stack, 'AWS::CloudFront::Distribution');
  return configSchema.parse(Properties.DistributionConfig);
};
const config = configOf(edge);
const allBehaviours = [config.DefaultCacheBehavior, ...config.CacheBehaviors];

test('AUTH-9 every function for clients requires the secret, which no template contains', () => {
  const functions = config.Origins.filter(({ Id }) => Id !== 'bucket');
  expect(functions.map(({ Id }) => Id).sort()).toEqual([...gateway.api.hosts.keys()].sort());
  // One URL more: that of the text function itself, which the edge of the release before uses.
  expect(ofType(api, 'AWS::Lambda::Url').length + ofType(api, 'AWS::Lambda::WebFunctionEndpoint').length).toBe(
    functions.length + 1,
  );
  for (const { OriginCustomHeaders, CustomOriginConfig } of functions) {
    expect(OriginCustomHeaders.map(({ HeaderName }) => HeaderName)).toEqual(['x-origin-secret']);
    const shown = pointsAt(OriginCustomHeaders[0]?.HeaderValue, edge, [data]);
    expect(shown).toBe('{{resolve:secretsmanager:origin-secret:SecretString:::}}');
    expect(CustomOriginConfig).toEqual({
      OriginProtocolPolicy: 'https-only',
      OriginSSLProtocols: ['TLSv1.2'],
      OriginReadTimeout: 120,
      OriginKeepaliveTimeout: 60,
    });
  }
});

test('OPS-1 an origin is the host of its function, or of the Web Function that serves it', () => {
  const served: readonly string[] = inferenceFunctionNames;
  for (const [made, region, hostOf] of [
    [abroad, 'eu-central-1', (id: string) => id],
    [withCertificate, 'us-east-1', (id: string) => (served.includes(id) ? 'inference' : id)],
  ] as const) {
    const functions = configOf(made.edge).Origins.filter(({ Id }) => Id !== 'bucket');
    expect(functions).toHaveLength(10);
    for (const { Id, DomainName } of functions) {
      const OutputName = `${hostOf(Id)}HostName`;
      const output = { StackName: 'gateway-prod-api', OutputName, Region: region };
      expect(DomainName).toEqual({ 'Fn::GetStackOutput': output });
      expect(JSON.stringify(made.api.outputs[OutputName])).toMatch(
        new RegExp(`"Fn::GetAtt":\\["${hostOf(Id)}function[^"]*","(FunctionUrl|DomainName)"\\]`),
      );
    }
  }
});

test('LIM-6 CloudFront limits the silence between two bytes, but not the whole response', () => {
  const { Origins } = configOf(inZone.edge);
  expect(Origins).toContainEqual(
    expect.objectContaining({ Id: 'text', CustomOriginConfig: expect.objectContaining({ OriginReadTimeout: 300 }) }),
  );
  for (const origin of Origins) expect(origin).not.toHaveProperty('ResponseCompletionTimeout');
});

test('AUTH-9 a deployment with a version of the secret puts that version into the edge', () => {
  const versionId = '4e1b2c3d-0000-4000-8000-000000000001';
  const synthesizeWith = (originSecretVersion: string) =>
    readGateway(newApp({ context: { originSecretVersion } }), 'prod', environmentOf('prod'));
  const made = synthesizeWith(versionId);
  const [origin] = configOf(made.edge!).Origins;
  expect(pointsAt(origin?.OriginCustomHeaders[0]?.HeaderValue, made.edge!, [made.data])).toBe(
    `{{resolve:secretsmanager:origin-secret:SecretString:::${versionId}}}`,
  );
  expect(() => synthesizeWith('latest')).toThrow();
});

// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
const allViewerExceptHostHeader = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

test('OPS-1 REF-7 the edge caches and compresses nothing and forwards every method and header, over HTTPS only', () => {
  for (const behaviour of allBehaviours) {
    const { PathPattern, AllowedMethods, OriginRequestPolicyId: passedOn, FunctionAssociations } = behaviour;
    const expected = { CachePolicyId: cachingDisabled, Compress: false, ViewerProtocolPolicy: 'https-only' };
    expect(behaviour, PathPattern).toMatchObject(expected);
    expect(AllowedMethods, PathPattern).toHaveLength(7);
    const isMedia = PathPattern === '/media/*';
    expect(pointsAt(passedOn, edge, []), PathPattern).toBe(isMedia ? 'media-requests' : allViewerExceptHostHeader);
    const onAnswer = isMedia ? [['viewer-response', 'media']] : [];
    const runs = FunctionAssociations.map(({ EventType, FunctionARN: arn }) => [EventType, pointsAt(arn, edge, [])]);
    expect(runs, PathPattern).toEqual([['viewer-request', 'viewer'], ...onAnswer]);
  }
  expect(config).toMatchObject({ HttpVersion: 'http2and3', IPV6Enabled: true, Enabled: true });
  expect(config).not.toHaveProperty('CustomErrorResponses');
});

test('OPS-1 every behavior has an existing origin, and routes go to their own functions', () => {
  const ids = config.Origins.map(({ Id }) => Id);
  for (const { TargetOriginId } of allBehaviours) expect(ids).toContain(TargetOriginId);
  expect(config.DefaultCacheBehavior.TargetOriginId).toBe('catalog');
  expect(config.CacheBehaviors.find(({ PathPattern }) => PathPattern === routes.chatCompletions.path)).toMatchObject({
    TargetOriginId: 'text',
  });
});

const codesOf = (stack: Synthesized) =>
  ofType(stack, 'AWS::CloudFront::Function').map(({ Properties }) => String(Properties.FunctionCode));

test('GEN-1 large bodies go to the Web Function exactly where that is configured', () => {
  expect(codesOf(edge).join()).toContain('const largeBodyOrigin = "inference"');
  for (const made of [inZone, withCertificate])
    expect(codesOf(made.edge).join()).toContain('const largeBodyOrigin = ""');
});

test('OPS-1 the edge functions are published on deployment, with the runtime they need', () => {
  const found = ofType(edge, 'AWS::CloudFront::Function').map(({ Properties }) => Properties);
  expect(found).toHaveLength(2);
  for (const properties of found)
    expect(properties).toMatchObject({ AutoPublish: true, FunctionConfig: { Runtime: 'cloudfront-js-2.0' } });
});

test('IMG-6 the bucket is read with signed requests, without headers or queries for S3', () => {
  const bucket = config.Origins.find(({ Id }) => Id === 'bucket');
  expect(bucket).toMatchObject({ S3OriginConfig: { OriginAccessIdentity: '' }, OriginCustomHeaders: [] });
  expect(pointsAt(bucket?.DomainName, edge, [data])).toBe('media');
  const access = only(edge, 'AWS::CloudFront::OriginAccessControl');
  expect(pointsAt(bucket?.OriginAccessControlId, edge, [])).toBe(nameOf(access));
  expect(access.Properties.OriginAccessControlConfig).toMatchObject({
    OriginAccessControlOriginType: 's3',
    SigningBehavior: 'always',
    SigningProtocol: 'sigv4',
  });
  const policy = only(edge, 'AWS::CloudFront::OriginRequestPolicy');
  expect(policy.Properties.OriginRequestPolicyConfig).toMatchObject({
    // LIM-7: the client IP for requests that fall back to the function.
    HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['x-client-ip'] },
    QueryStringsConfig: { QueryStringBehavior: 'none' },
    CookiesConfig: { CookieBehavior: 'none' },
  });
});

const readers = (stack: Synthesized) =>
  z
    .array(z.looseObject({ Effect: z.string() }))
    .parse(
      z
        .object({ PolicyDocument: z.looseObject({ Statement: z.array(z.unknown()) }) })
        .parse(only(stack, 'AWS::S3::BucketPolicy').Properties).PolicyDocument.Statement,
    )
    .filter(({ Effect }) => Effect === 'Allow');

test("IMG-6 the bucket lets only this account's distributions read, and only images", () => {
  const [statement, ...others] = readers(data);
  expect(others).toEqual([]);
  const { Resource: resource, Condition: condition, ...rest } = statement!;
  const cloudFront = { Service: 'cloudfront.amazonaws.com' };
  expect(rest).toEqual({ Action: 's3:GetObject', Effect: 'Allow', Principal: cloudFront });
  expect(pointsAt(resource, data, [])).toBe('media/media/*');
  expect(condition).toEqual({
    StringEquals: { 'AWS:SourceAccount': { Ref: 'AWS::AccountId' } },
    ArnLike: {
      'AWS:SourceArn': { 'Fn::Join': ['', ['arn:aws:cloudfront::', { Ref: 'AWS::AccountId' }, ':distribution/*']] },
    },
  });
});

test.each(['none', 'api-gateway'] as const)('OPS-1 with the front door %s there is no edge', (frontDoor) => {
  const made = synthesize('prod', frontDoor);
  expect([made.edge, made.global]).toEqual([undefined, undefined]);
  expect(readers(made.data)).toEqual([]);
  expect(JSON.stringify(made.api.template.toJSON())).not.toContain('CloudFront');
});

test('OPS-1 without a domain, the URL is the one that CloudFront assigns', () => {
  expect(config).toMatchObject({ ViewerCertificate: { CloudFrontDefaultCertificate: true } });
  expect(config).not.toHaveProperty('Aliases');
  expect(ofType(edge, 'AWS::Route53::RecordSet')).toEqual([]);
  const url = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [expect.any(String), 'DomainName'] }]] };
  expect(edge.outputs.publicUrl).toEqual({ Value: url });
  const parameter = { Name: '/gateway-prod/public-url', Value: url };
  expect(only(edge, 'AWS::SSM::Parameter').Properties).toMatchObject(parameter);
  expect(edge.outputs).toHaveProperty('distributionId');
});

test('OPS-1 a domain in a hosted zone has a us-east-1 certificate, TLS 1.2, A and AAAA records', () => {
  expect(only(inZone.global, 'AWS::CertificateManager::Certificate').Properties).toMatchObject({
    DomainName: 'api.example.com',
    ValidationMethod: 'DNS',
    DomainValidationOptions: [{ DomainName: 'api.example.com', HostedZoneId: 'Z0123456789' }],
  });
  expect(configOf(inZone.edge)).toMatchObject({
    Aliases: ['api.example.com'],
    ViewerCertificate: { SslSupportMethod: 'sni-only', MinimumProtocolVersion: 'TLSv1.2_2021' },
  });
  const records = ofType(inZone.edge, 'AWS::Route53::RecordSet').map(({ Properties }) => Properties);
  expect(records.map(({ Type }) => Type).sort()).toEqual(['A', 'AAAA']);
  for (const record of records) expect(record).toMatchObject({ Name: 'api.example.com.', HostedZoneId: 'Z0123456789' });
  expect(inZone.edge.outputs.publicUrl).toEqual({ Value: 'https://api.example.com' });
});

test('OPS-1 a domain with a certificate gets neither another certificate nor records', () => {
  expect(ofType(withCertificate.global, 'AWS::CertificateManager::Certificate')).toEqual([]);
  expect(configOf(withCertificate.edge)).toMatchObject({
    ViewerCertificate: { AcmCertificateArn: expect.stringContaining('/0a1b') },
  });
  expect(ofType(withCertificate.edge, 'AWS::Route53::RecordSet')).toEqual([]);
});

test('OPS-1 the access log of the edge is always in us-east-1, with the usual retention', () => {
  const { accessLogs } = abroad;
  expect(abroad.gateway.accessLogs?.region).toBe('us-east-1');
  expect(only(accessLogs, 'AWS::Logs::LogGroup').Properties.RetentionInDays).toBe(365);
  const source = only(accessLogs, 'AWS::Logs::DeliverySource').Properties;
  expect(source.LogType).toBe('ACCESS_LOGS');
  expect(JSON.stringify(source)).toContain(':distribution/');
});

test('ERR-5 the access log of the edge has no query, cookie, referrer or path', () => {
  const { RecordFields } = only(abroad.accessLogs, 'AWS::Logs::Delivery').Properties;
  const fields = z.array(z.string()).parse(RecordFields);
  expect(fields).toEqual(expect.arrayContaining(['cs-method', 'sc-status', 'x-edge-request-id']));
  for (const field of fields) expect(field).not.toMatch(/query|cookie|referer|forwarded|uri|path/i);
});

test('OPS-1 the edge stacks have no policies', () => {
  for (const stack of [edge, global]) expect(ofType(stack, 'AWS::IAM::Policy')).toEqual([]);
});
