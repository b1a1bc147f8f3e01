import { expect, test } from 'vitest';
import * as z from 'zod';
import { ofType, pointsAt, synthesize } from './synthesize.ts';

const { api } = synthesize('prod');

test('OPS-1 the Web Function: 900 s, Node 24, its own entry and code, open to whoever has a key', () => {
  const [webFunction, ...others] = ofType(api, 'AWS::Lambda::WebFunction');
  expect(others).toEqual([]);
  const name = 'gateway-prod-content-AWS::Region';
  const [revision] = ofType(api, 'AWS::Lambda::WebFunctionRevision');
  const [endpoint] = ofType(api, 'AWS::Lambda::WebFunctionEndpoint');
  // By its name, whatever CDK would say.
  for (const part of [webFunction, revision, endpoint])
    expect(pointsAt(part?.Properties.FunctionName, api, [])).toBe(name);
  expect(revision?.Properties).toMatchObject({
    BuildConfig: { RuntimeConfig: { Runtime: 'nodejs24.x' } },
    ServiceConfig: {
      TimeoutSeconds: 900,
      EnvironmentVariables: { AWS_LAMBDA_NODEJS_ENTRYPOINT: 'index.mjs' },
    },
  });
  expect(endpoint?.Properties).toMatchObject({ AuthType: 'ApplicationManaged', EndpointType: 'HomeRegion' });
});

test('OPS-1 the code of the Web Function lies in a private bucket with versions, copied there by its content', () => {
  const [bucket, ...others] = ofType(api, 'AWS::S3::Bucket');
  expect(others).toEqual([]);
  expect(bucket?.Properties).toMatchObject({
    VersioningConfiguration: { Status: 'Enabled' },
    PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
  });
  const statementSchema = z.looseObject({ Effect: z.string(), Principal: z.unknown(), Resource: z.unknown() });
  const policySchema = z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }) });
  const [policy] = ofType(api, 'AWS::S3::BucketPolicy');
  const allowed = policySchema
    .parse(policy?.Properties)
    .PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Allow');
  expect(allowed).toMatchObject([
    {
      Action: ['s3:GetObject', 's3:GetObjectVersion'],
      Principal: { Service: 'lambda.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    },
  ]);
  const [copy, ...copies] = ofType(api, 'Custom::S3ObjectCopy');
  expect(copies).toEqual([]);
  expect(Object.keys(copy?.Properties ?? {}).sort()).toEqual([
    'ContentHash',
    'DestinationBucketName',
    'DestinationKeyPrefix',
    'ServiceToken',
    'SourceBucketName',
    'SourceObjectKey',
  ]);
});
