import { expect, test } from 'vitest';
import * as z from 'zod';
import { environments, frontDoors, parseEnvironment } from '../../lib/environments.ts';
import { newApp, ofType, type Resource, read, type Synthesized, synthesize } from './synthesize.ts';

const domain = { name: 'api.example.com', hostedZone: { id: 'Z0123456789', name: 'example.com' } };
const variants = frontDoors.flatMap((frontDoor) => [
  { frontDoor, environment: parseEnvironment({ ...environments.prod, frontDoor }) },
  ...(frontDoor === 'none'
    ? []
    : [{ frontDoor, environment: parseEnvironment({ ...environments.prod, frontDoor, domain }) }]),
]);

const templates = variants.flatMap(({ environment }) =>
  synthesize('prod', newApp({ bundling: false }), environment).stacks.map(read),
);

const all = (type: string): readonly { readonly resource: Resource; readonly stack: Synthesized }[] =>
  templates.flatMap((stack) => ofType(stack, type).map((resource) => ({ resource, stack })));

const idOf = ({ resource, stack }: { readonly resource: Resource; readonly stack: Synthesized }): string =>
  [...stack.resources].find(([, each]) => each === resource)?.[0] ?? '';

/** What a policy of that type refuses to those who come without TLS, by the resources that it is on. */
const refusesPlainText = (
  type: string,
  field: string,
  one: { readonly resource: Resource; readonly stack: Synthesized },
) =>
  ofType(one.stack, type)
    .filter(({ Properties }) => JSON.stringify(Properties[field]).includes(`"${idOf(one)}"`))
    .some(({ Properties }) => {
      const text = JSON.stringify(Properties.PolicyDocument);
      return text.includes('"Effect":"Deny"') && text.includes('"aws:SecureTransport":"false"');
    });

test('OPS-1 every bucket is private and answers over TLS only, whatever the front door', () => {
  const buckets = all('AWS::S3::Bucket');
  expect(buckets.length).toBeGreaterThanOrEqual(variants.length);
  for (const bucket of buckets) {
    expect(bucket.resource.Properties.PublicAccessBlockConfiguration, idOf(bucket)).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
    expect(refusesPlainText('AWS::S3::BucketPolicy', 'Bucket', bucket), idOf(bucket)).toBe(true);
  }
});

test.each([
  ['queue', 'AWS::SQS::Queue', 'AWS::SQS::QueuePolicy', 'Queues'],
  ['topic', 'AWS::SNS::Topic', 'AWS::SNS::TopicPolicy', 'Topics'],
])('OPS-1 every %s answers over TLS only', (_what, type, policy, field) => {
  const found = all(type);
  expect(found.length).toBeGreaterThanOrEqual(variants.length);
  for (const one of found) expect(refusesPlainText(policy, field, one), idOf(one)).toBe(true);
});

test('OPS-1 every log group ends what it holds, and is kept in prod with what it held', () => {
  const groups = all('AWS::Logs::LogGroup');
  expect(groups.length).toBeGreaterThan(50);
  for (const group of groups) {
    expect(group.resource.Properties.RetentionInDays, idOf(group)).toBe(365);
    expect(group.resource.DeletionPolicy, idOf(group)).toBe('RetainExceptOnCreate');
  }
});

test('OPS-1 a kept log group can be taken over: its name is no reference, and that of one stack alone', () => {
  const stackOf = new Map<string, string>();
  for (const { resource } of all('AWS::Logs::LogGroup')) {
    const name = z.string().parse(resource.Properties.LogGroupName);
    const [, stack = ''] = resource.Metadata['aws:cdk:path'].split('/');
    expect(stackOf.get(name) ?? stack, name).toBe(stack);
    stackOf.set(name, stack);
  }
  expect(stackOf.size).toBeGreaterThan(20);
});

test('OPS-1 every function writes to a log group of the templates, whose end is set', () => {
  for (const { resource } of all('AWS::Lambda::Function'))
    expect(resource.Properties.LoggingConfig, JSON.stringify(resource.Metadata)).toMatchObject({
      LogGroup: expect.anything(),
    });
});
