import { expect, test } from 'vitest';
import { checkKey, checkQuotas, type Site } from '../../../bin/deploy/account-checks.ts';
import { environments } from '../../../lib/environments.ts';
import { ACCOUNT, scriptAws } from '../../support/scripted-account.ts';
import { assemblyOf, type FakeStack, roleArn } from '../fake-assembly.ts';

const siteOf = (resources: FakeStack['resources']): Site => ({
  region: 'us-east-1',
  stacks: assemblyOf([{ name: 'gateway-dev-api', region: 'us-east-1', resources }]),
  fill: (name) => name.replaceAll(/\$\{AWS::(\w+)\}/g, (_, pseudo) => (pseudo === 'AccountId' ? ACCOUNT : 'aws')),
  credentialsOf: () => ({ accessKeyId: 'ASIAROLE', secretAccessKey: 'secret', sessionToken: 'token' }),
});

const KEY = `arn:aws:kms:us-east-1:${ACCOUNT}:key/0a1b`;
const copying = [{ Type: 'Custom::S3ObjectCopy' }];
const bucket = `cdk-acme-assets-${ACCOUNT}-us-east-1`;

test('OPS-12 the key of the bootstrap must be the key of the environment', async () => {
  const aws = await scriptAws({ bucketKey: KEY });
  const plain = environments.dev;
  expect(await checkKey(siteOf(copying), plain)).toEqual([
    `bootstrapKeyArn: the bucket ${bucket} is encrypted with the key ${KEY}. Set bootstrapKeyArn to its ARN in gateway.config.ts.`,
  ]);
  expect(await checkKey(siteOf(copying), { ...plain, bootstrapKeyArn: KEY })).toEqual([]);
  expect(aws.calls).toEqual([`GetBucketEncryption ${bucket}`, `GetBucketEncryption ${bucket}`]);
  expect(await checkKey(siteOf([{ Type: 'AWS::S3::Bucket' }]), plain)).toEqual([]);
  expect(aws.calls).toHaveLength(2);
});

test.each(['0a1b', 'alias/assets'])('OPS-12 the key of a bucket may be named as %s', async (bucketKey) => {
  await scriptAws({ bucketKey });
  expect(await checkKey(siteOf(copying), { ...environments.dev, bootstrapKeyArn: KEY })).toEqual([]);
  expect(await checkKey(siteOf(copying), environments.dev)).toHaveLength(1);
});

test.each([undefined, 'arn:aws:kms:us-east-1:123456789012:alias/aws/s3'])(
  'OPS-12 a bucket whose key AWS manages needs no key of the environment: %s',
  async (bucketKey) => {
    await scriptAws(bucketKey === undefined ? {} : { bucketKey });
    expect(await checkKey(siteOf(copying), environments.dev)).toEqual([]);
  },
);

const reserving = [
  { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions: 150 } },
  { Type: 'AWS::Lambda::Function', Properties: { ReservedConcurrentExecutions: 50 } },
  { Type: 'AWS::Lambda::Function' },
];
const silent = [
  {
    Type: 'AWS::CloudFront::Distribution',
    Properties: {
      DistributionConfig: { Origins: [{ CustomOriginConfig: { OriginReadTimeout: 300 } }, { S3OriginConfig: {} }] },
    },
  },
];

test('OPS-12 reserved concurrency needs a quota with 100 executions more', async () => {
  const aws = await scriptAws({ quotas: { 'L-B99A9384': 299 } });
  expect(await checkQuotas(siteOf(reserving))).toEqual([
    'reservedConcurrency: takes 200 executions and AWS requires 100 more, but the quota "Concurrent executions" (L-B99A9384) in us-east-1 is 299. Raise it in Service Quotas, or lower reservedConcurrency.',
  ]);
  expect(aws.calls).toEqual([`AssumeRole ${roleArn(ACCOUNT, 'lookup')}`, 'GetServiceQuota L-B99A9384']);
});

test('OPS-12 a long silence behind CloudFront needs its quota, applied or default', async () => {
  await scriptAws({});
  expect(await checkQuotas(siteOf(silent))).toEqual([
    'edgeTimeoutSeconds: is 300, but the quota "Response timeout per origin" (L-AECE9FA7) of CloudFront is 120. Raise it in Service Quotas, or lower edgeTimeoutSeconds.',
  ]);
});

test('OPS-12 sufficient quotas pass, and settings that need none read none', async () => {
  const aws = await scriptAws({ quotas: { 'L-B99A9384': 300, 'L-AECE9FA7': 300 } });
  expect(await checkQuotas(siteOf([...reserving, ...silent]))).toEqual([]);
  aws.calls.length = 0;
  expect(await checkQuotas(siteOf([{ Type: 'AWS::Lambda::Function' }]))).toEqual([]);
  expect(aws.calls).toEqual([]);
});
