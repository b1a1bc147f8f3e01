import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { MediaBucket } from '../../../lib/constructs/media-bucket.ts';

const stack = new Stack(new App({ analyticsReporting: false }), 'stack');
new MediaBucket(stack, 'media');
const [bucket] = Object.values(Template.fromStack(stack).findResources('AWS::S3::Bucket'));

test('OPS-16 the bucket keeps a removed outbox entry for the 35 days of a table restore', () => {
  expect(bucket?.Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
  const rules: { Prefix?: string; NoncurrentVersionExpiration?: object; ExpirationInDays?: number }[] =
    bucket?.Properties.LifecycleConfiguration.Rules;
  expect(rules.filter(({ Prefix }) => Prefix === undefined || Prefix === 'outbox/')).toMatchObject([
    { AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
    { Prefix: 'outbox/', NoncurrentVersionExpiration: { NoncurrentDays: 35 } },
  ]);
  for (const { Prefix, NoncurrentVersionExpiration } of rules.filter(({ Prefix }) => Prefix !== undefined))
    expect(NoncurrentVersionExpiration, Prefix).toBeDefined();
});

test('OPS-16 no rule has both a number of days and the removal of delete markers, which S3 rejects', () => {
  const rules: { ExpirationInDays?: number; ExpiredObjectDeleteMarker?: boolean }[] =
    bucket?.Properties.LifecycleConfiguration.Rules;
  for (const { ExpirationInDays, ExpiredObjectDeleteMarker } of rules)
    expect(ExpirationInDays !== undefined && ExpiredObjectDeleteMarker !== undefined).toBe(false);
});
