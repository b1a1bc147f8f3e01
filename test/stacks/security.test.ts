import { expect, test } from 'vitest';
import * as z from 'zod';
import { ofType, type Resource, read, type Synthesized, synthesize, type Variant } from './synthesize.ts';

const variants: readonly Variant[] = [
  'cloudfront',
  'cloudfront with a domain',
  'api-gateway',
  'api-gateway with a domain',
  'none',
];
const templates = variants.map((variant) => synthesize('prod', variant).stacks.map(read));

interface Placed {
  readonly id: string;
  readonly resource: Resource;
  readonly stack: Synthesized;
}

const all = (type: string): readonly Placed[] =>
  templates
    .flat()
    .flatMap((stack) =>
      [...stack.resources].flatMap(([id, resource]) => (resource.Type === type ? [{ id, resource, stack }] : [])),
    );

/** Whether a policy of that type denies requests without TLS on a resource. */
const deniesPlainText = (type: string, field: string, { id, stack }: Placed): boolean =>
  ofType(stack, type)
    .filter(({ Properties }) => JSON.stringify(Properties[field]).includes(`"${id}"`))
    .some(({ Properties }) => {
      const text = JSON.stringify(Properties.PolicyDocument);
      return text.includes('"Effect":"Deny"') && text.includes('"aws:SecureTransport":"false"');
    });

test('OPS-1 every bucket is private behind every front door', () => {
  for (const { id, resource } of all('AWS::S3::Bucket'))
    expect(resource.Properties.PublicAccessBlockConfiguration, id).toEqual({
      BlockPublicAcls: true,
      BlockPublicPolicy: true,
      IgnorePublicAcls: true,
      RestrictPublicBuckets: true,
    });
});

test.each([
  ['bucket', 'AWS::S3::Bucket', 'AWS::S3::BucketPolicy', 'Bucket'],
  ['queue', 'AWS::SQS::Queue', 'AWS::SQS::QueuePolicy', 'Queues'],
  ['topic', 'AWS::SNS::Topic', 'AWS::SNS::TopicPolicy', 'Topics'],
])('OPS-1 every %s accepts requests over TLS only', (_what, type, policy, field) => {
  const found = all(type);
  expect(found.length).toBeGreaterThanOrEqual(variants.length);
  for (const one of found) expect(deniesPlainText(policy, field, one), one.id).toBe(true);
});

test('OPS-1 every log group has a retention, and prod keeps it after its stack', () => {
  const groups = all('AWS::Logs::LogGroup');
  expect(groups.length).toBeGreaterThan(50);
  for (const { id, resource } of groups)
    expect([id, resource.Properties.RetentionInDays, resource.DeletionPolicy]).toEqual([
      id,
      365,
      'RetainExceptOnCreate',
    ]);
});

test('OPS-1 the name of a log group is plain text that only one stack uses', () => {
  const stackOf = new Map<string, string>();
  for (const { resource } of all('AWS::Logs::LogGroup')) {
    const name = z.string().parse(resource.Properties.LogGroupName);
    const [, stack = ''] = resource.Metadata['aws:cdk:path'].split('/');
    expect(stackOf.get(name) ?? stack, name).toBe(stack);
    stackOf.set(name, stack);
  }
  expect(stackOf.size).toBeGreaterThan(20);
});

test('OPS-1 every function writes to a log group of its template', () => {
  for (const { id, resource } of all('AWS::Lambda::Function'))
    expect(resource.Properties.LoggingConfig, id).toMatchObject({ LogGroup: expect.anything() });
});

/** Actions for which AWS has no resource. */
const onAnything = [
  // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsx-ray.html
  'xray:PutTraceSegments',
  'xray:PutTelemetryRecords',
  // Actions of the state machine: https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html and xray-iam.html
  'xray:GetSamplingRules',
  'xray:GetSamplingTargets',
  'logs:CreateLogDelivery',
  'logs:GetLogDelivery',
  'logs:UpdateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:DescribeResourcePolicies',
  'logs:DescribeLogGroups',
];

const statementSchema = z.object({
  Effect: z.enum(['Allow', 'Deny']),
  Action: z.union([z.string(), z.array(z.string())]),
  /** The trust policy of a role has no resource. */
  Resource: z.unknown().optional(),
});
const documentSchema = z.object({ Statement: z.array(statementSchema) });

/** Returns every policy document in a template. */
const documentsIn = (value: unknown): readonly z.output<typeof documentSchema>[] => {
  if (typeof value !== 'object' || value === null) return [];
  // In a firewall, `Statement` has another meaning.
  const own = 'Statement' in value && Array.isArray(value.Statement) ? [documentSchema.parse(value)] : [];
  return [...own, ...Object.values(value).flatMap(documentsIn)];
};

const list = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

test('OPS-1 no policy has wildcard actions, or any resource where AWS supports a specific one', () => {
  const allowed = templates
    .flat()
    .flatMap(({ resources }) => [...resources.values()].flatMap(documentsIn))
    .flatMap(({ Statement }) => Statement)
    .filter(({ Effect }) => Effect === 'Allow')
    .flatMap(({ Action, Resource: on }) => list(Action).map((action) => ({ action, resources: list(on) })));
  expect(allowed.length).toBeGreaterThan(50);
  expect(allowed.map(({ action }) => action).filter((action) => action.includes('*'))).toEqual([]);
  const open = allowed.filter(({ resources }) => resources.includes('*')).map(({ action }) => action);
  expect([...new Set(open)].sort()).toEqual(onAnything.toSorted());
});
