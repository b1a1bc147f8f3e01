import { expect, test } from 'vitest';
import * as z from 'zod';
import { FREE_BYTES } from '../../lambdas/http/body-budget.ts';
import { BODIES_AT_ONCE, BODY_BYTES_MAX } from '../../lambdas/limits.ts';
import { readSettings } from '../../lambdas/settings.ts';
import { functions } from '../../lib/functions.ts';
import { noTables } from '../support/memory/memory-stores.ts';
import { nameOf, ofType, only, pointsAt, synthesize } from './synthesize.ts';

const { api } = synthesize('prod');

const ofName = (type: string, name: string) =>
  ofType(api, type).find((resource) => nameOf(resource).startsWith(`${name}/`))?.Properties;

test.each([
  ['content', 64],
  ['inference', BODIES_AT_ONCE],
])('OPS-1 the Web Function %s has 900 s, Node 24, %i concurrent requests, a public endpoint', (name, most) => {
  const revision = ofName('AWS::Lambda::WebFunctionRevision', name);
  const endpoint = ofName('AWS::Lambda::WebFunctionEndpoint', name);
  // The stack overrides FunctionName with the name. CDK would set the ARN.
  for (const part of [ofName('AWS::Lambda::WebFunction', name), revision, endpoint])
    expect(pointsAt(part?.FunctionName, api, [])).toBe(`gateway-prod-${name}-AWS::Region`);
  expect(revision).toMatchObject({
    BuildConfig: { RuntimeConfig: { Runtime: 'nodejs24.x' } },
    ServiceConfig: {
      TimeoutSeconds: 900,
      EnvironmentVariables: { AWS_LAMBDA_NODEJS_ENTRYPOINT: 'index.mjs' },
    },
  });
  expect(JSON.stringify(revision)).toContain(`"MaxConcurrencyPerEnvironment":${most}`);
  expect(endpoint).toMatchObject({ AuthType: 'ApplicationManaged', EndpointType: 'HomeRegion' });
});

test('GEN-14 `inference` has memory for its maximum of requests with the largest bodies', () => {
  const { concurrency } = functions.inference;
  const { BODY_BUDGET_BYTES: bodyBudgetBytes } = readSettings(noTables);
  // Subtract the free part of each body.
  expect(concurrency * (BODY_BYTES_MAX - FREE_BYTES)).toBeLessThan(bodyBudgetBytes);
  expect((concurrency + 1) * (BODY_BYTES_MAX - FREE_BYTES)).toBeGreaterThan(bodyBudgetBytes);
});

test('OPS-1 the code of Web Functions is in an encrypted, versioned bucket, named by content', () => {
  expect(only(api, 'AWS::S3::Bucket').Properties).toMatchObject({
    VersioningConfiguration: { Status: 'Enabled' },
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
  });
  const statementSchema = z.looseObject({ Effect: z.string(), Principal: z.unknown(), Resource: z.unknown() });
  const policySchema = z.object({ PolicyDocument: z.object({ Statement: z.array(statementSchema) }) });
  const allowed = policySchema
    .parse(only(api, 'AWS::S3::BucketPolicy').Properties)
    .PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Allow');
  expect(allowed).toHaveLength(2);
  for (const statement of allowed)
    expect(statement).toMatchObject({
      Action: ['s3:GetObject', 's3:GetObjectVersion'],
      Principal: { Service: 'lambda.amazonaws.com' },
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  const copies = ofType(api, 'Custom::S3ObjectCopy');
  expect(copies).toHaveLength(2);
  for (const { Properties } of copies)
    expect(Object.keys(Properties).sort()).toEqual([
      'ContentHash',
      'DestinationBucketName',
      'DestinationKeyPrefix',
      'ServiceToken',
      'SourceBucketName',
      'SourceObjectKey',
    ]);
});
