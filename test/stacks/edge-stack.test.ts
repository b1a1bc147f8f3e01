import { expect, test } from 'vitest';
import * as z from 'zod';
import { routes } from '../../lambdas/routes.ts';
import { type Environment, environments, parseEnvironment } from '../../lib/environments.ts';
import { inferenceFunctionNames } from '../../lib/inference-functions.ts';
import { nameOf, newApp, ofType, pointsAt, type Resource, type Synthesized, synthesize } from './synthesize.ts';

const base = { ...environments.prod, region: 'eu-west-1' };
const withEdge = (changes: Partial<Environment> = {}) => {
  const made = synthesize('prod', newApp({ bundling: false }), parseEnvironment({ ...base, ...changes }));
  if (!made.edge || !made.global) throw new Error('there is no edge');
  return { ...made, edge: made.edge, global: made.global };
};
const { edge, global, api, data, apiStack } = withEdge();
const hostedZone = { id: 'Z123', name: 'example.com' };
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b';
/** Made twice more with what differs, since each takes seconds. */
const inZone = withEdge({
  edgeTimeoutSeconds: 300,
  largeBodies: 'off',
  domain: { name: 'ai.example.com', hostedZone },
});
const withCertificate = withEdge({
  inferenceHost: 'web-function',
  domain: { name: 'ai.example.com', certificateArn },
});

const only = (found: readonly Resource[]): Resource => {
  expect(found).toHaveLength(1);
  return found[0]!;
};

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
  const { Properties } = only(ofType(stack, 'AWS::CloudFront::Distribution'));
  return configSchema.parse(Properties.DistributionConfig);
};
const config = configOf(edge);
const allBehaviours = [config.DefaultCacheBehavior, ...config.CacheBehaviors];

test('AUTH-9 every function that clients reach stands behind the secret, which no template shows', () => {
  const functions = config.Origins.filter(({ Id }) => Id !== 'bucket');
  expect(functions.map(({ Id }) => Id).sort()).toEqual([...apiStack.hosts.keys()].sort());
  expect(ofType(api, 'AWS::Lambda::Url').length + ofType(api, 'AWS::Lambda::WebFunctionEndpoint').length).toBe(
    functions.length,
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

test('OPS-1 an origin is the host that its function tells, or that of the one which serves it', () => {
  for (const [made, hostOf] of [
    [{ edge, api }, (id: string) => id],
    [withCertificate, (id: string) => (inferenceFunctionNames.some((name) => name === id) ? 'inference' : id)],
  ] as const) {
    const functions = configOf(made.edge).Origins.filter(({ Id }) => Id !== 'bucket');
    expect(functions).toHaveLength(10);
    for (const { Id, DomainName } of functions) {
      const OutputName = `${hostOf(Id)}HostName`;
      const told = { StackName: 'gateway-prod-api', OutputName, Region: 'eu-west-1' };
      expect(DomainName).toEqual({ 'Fn::GetStackOutput': told });
      expect(JSON.stringify(made.api.outputs[OutputName])).toMatch(
        new RegExp(`"Fn::GetAtt":\\["${hostOf(Id)}function[^"]*","(FunctionUrl|DomainName)"\\]`),
      );
    }
  }
});

test('LIM-6 CloudFront waits as long as is set between two bytes, and for all of an answer as long as it takes', () => {
  const { Origins } = configOf(inZone.edge);
  expect(Origins).toContainEqual(
    expect.objectContaining({ Id: 'text', CustomOriginConfig: expect.objectContaining({ OriginReadTimeout: 300 }) }),
  );
  for (const origin of Origins) expect(origin).not.toHaveProperty('ResponseCompletionTimeout');
});

test('AUTH-9 a rotated secret reaches the edge with the version that a deployment names', () => {
  const versionId = '4e1b2c3d-0000-4000-8000-000000000001';
  const app = newApp({ bundling: false });
  app.node.setContext('originSecretVersion', versionId);
  const made = synthesize('prod', app, base);
  const [origin] = configOf(made.edge!).Origins;
  expect(pointsAt(origin?.OriginCustomHeaders[0]?.HeaderValue, made.edge!, [made.data])).toBe(
    `{{resolve:secretsmanager:origin-secret:SecretString:::${versionId}}}`,
  );
  const wrong = newApp({ bundling: false });
  wrong.node.setContext('originSecretVersion', 'latest');
  expect(() => synthesize('prod', wrong, base)).toThrow();
});

// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
const cachingDisabled = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
const allViewerExceptHostHeader = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

test('OPS-1 nothing is cached or compressed, every method is passed on, over HTTPS alone', () => {
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

test('OPS-1 every behaviour has an origin that is there, and routes lead to their own functions', () => {
  const ids = config.Origins.map(({ Id }) => Id);
  for (const { TargetOriginId } of allBehaviours) expect(ids).toContain(TargetOriginId);
  expect(config.DefaultCacheBehavior.TargetOriginId).toBe('catalog');
  expect(config.CacheBehaviors.find(({ PathPattern }) => PathPattern === routes.chatCompletions.path)).toMatchObject({
    TargetOriginId: 'text',
  });
});

const codesOf = (stack: Synthesized) =>
  ofType(stack, 'AWS::CloudFront::Function').map(({ Properties }) => String(Properties.FunctionCode));

test('GEN-1 large bodies have the Web Function to go to where it is set so, and nowhere else', () => {
  expect(codesOf(edge).join()).toContain('const largeBodyOrigin = "inference"');
  for (const made of [inZone, withCertificate])
    expect(codesOf(made.edge).join()).toContain('const largeBodyOrigin = ""');
});

test('OPS-1 the edge functions run as soon as they are deployed, on the runtime they are written for', () => {
  const found = ofType(edge, 'AWS::CloudFront::Function').map(({ Properties }) => Properties);
  expect(found).toHaveLength(2);
  for (const properties of found)
    expect(properties).toMatchObject({ AutoPublish: true, FunctionConfig: { Runtime: 'cloudfront-js-2.0' } });
});

test('IMG-6 the bucket is read with signed requests, without a header or a query that S3 would act on', () => {
  const bucket = config.Origins.find(({ Id }) => Id === 'bucket');
  expect(bucket).toMatchObject({ S3OriginConfig: { OriginAccessIdentity: '' }, OriginCustomHeaders: [] });
  expect(pointsAt(bucket?.DomainName, edge, [data])).toBe('media');
  const access = only(ofType(edge, 'AWS::CloudFront::OriginAccessControl'));
  expect(pointsAt(bucket?.OriginAccessControlId, edge, [])).toBe(nameOf(access));
  expect(access.Properties.OriginAccessControlConfig).toMatchObject({
    OriginAccessControlOriginType: 's3',
    SigningBehavior: 'always',
    SigningProtocol: 'sigv4',
  });
  const policy = only(ofType(edge, 'AWS::CloudFront::OriginRequestPolicy'));
  expect(policy.Properties.OriginRequestPolicyConfig).toMatchObject({
    // LIM-7: of whoever is refused behind the bucket.
    HeadersConfig: { HeaderBehavior: 'whitelist', Headers: ['CloudFront-Viewer-Address'] },
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
        .parse(only(ofType(stack, 'AWS::S3::BucketPolicy')).Properties).PolicyDocument.Statement,
    )
    .filter(({ Effect }) => Effect === 'Allow');

test("IMG-6 the bucket lets CloudFront read images, for this account's distributions, and nothing else", () => {
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

test.each(['none', 'api-gateway'] as const)('OPS-1 with the front door %s there is no edge at all', (frontDoor) => {
  const made = synthesize('prod', newApp({ bundling: false }), parseEnvironment({ ...base, frontDoor }));
  expect([made.edge, made.global]).toEqual([undefined, undefined]);
  expect(readers(made.data)).toEqual([]);
  expect(JSON.stringify(made.api.template.toJSON())).not.toContain('CloudFront');
});

test('OPS-1 without a domain, the address is the one that CloudFront gives', () => {
  expect(config).toMatchObject({ ViewerCertificate: { CloudFrontDefaultCertificate: true } });
  expect(config).not.toHaveProperty('Aliases');
  expect(ofType(edge, 'AWS::Route53::RecordSet')).toEqual([]);
  const url = { 'Fn::Join': ['', ['https://', { 'Fn::GetAtt': [expect.any(String), 'DomainName'] }]] };
  expect(edge.outputs.publicUrl).toEqual({ Value: url });
  const told = { Name: '/gateway-prod/public-url', Value: url };
  expect(only(ofType(edge, 'AWS::SSM::Parameter')).Properties).toMatchObject(told);
  expect(edge.outputs).toHaveProperty('distributionId');
});

test('OPS-1 a domain in a hosted zone: certificate in us-east-1, TLS 1.2, records for both kinds of address', () => {
  const made = inZone;
  expect(only(ofType(made.global, 'AWS::CertificateManager::Certificate')).Properties).toMatchObject({
    DomainName: 'ai.example.com',
    ValidationMethod: 'DNS',
    DomainValidationOptions: [{ DomainName: 'ai.example.com', HostedZoneId: 'Z123' }],
  });
  expect(configOf(made.edge)).toMatchObject({
    Aliases: ['ai.example.com'],
    ViewerCertificate: { SslSupportMethod: 'sni-only', MinimumProtocolVersion: 'TLSv1.2_2021' },
  });
  const records = ofType(made.edge, 'AWS::Route53::RecordSet').map(({ Properties }) => Properties);
  expect(records.map(({ Type }) => Type).sort()).toEqual(['A', 'AAAA']);
  for (const record of records) expect(record).toMatchObject({ Name: 'ai.example.com.', HostedZoneId: 'Z123' });
  expect(made.edge.outputs.publicUrl).toEqual({ Value: 'https://ai.example.com' });
});

test('OPS-1 a domain with a certificate of its own is left to whoever keeps its zone', () => {
  const made = withCertificate;
  expect(ofType(made.global, 'AWS::CertificateManager::Certificate')).toEqual([]);
  expect(configOf(made.edge)).toMatchObject({ ViewerCertificate: { AcmCertificateArn: certificateArn } });
  expect(ofType(made.edge, 'AWS::Route53::RecordSet')).toEqual([]);
});

test('OPS-1 the edge grants nobody anything', () => {
  for (const stack of [edge, global]) expect(ofType(stack, 'AWS::IAM::Policy')).toEqual([]);
});
