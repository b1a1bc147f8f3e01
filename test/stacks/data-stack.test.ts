import { expect, test } from 'vitest';
import { tableNames, tables } from '../../lib/tables.ts';
import { nameOf, ofType, only, synthesize } from './synthesize.ts';

const prod = synthesize('prod').data;
const dev = synthesize('dev').data;

const tableOf = (stack: typeof prod, name: string) =>
  ofType(stack, 'AWS::DynamoDB::GlobalTable').find((table) => nameOf(table) === `${name}-table`)!;

const secretOf = (stack: typeof prod, name: string) =>
  ofType(stack, 'AWS::SecretsManager::Secret').find((secret) => nameOf(secret) === name)!;

const secretNames = ['key-pepper', 'provider-keys', 'bot-token', 'top-up-key', 'origin-secret'];

test('OPS-1 there is one table for each description, billed on demand', () => {
  const found = ofType(prod, 'AWS::DynamoDB::GlobalTable');
  expect(found.map(nameOf).sort()).toEqual(tableNames.map((name) => `${name}-table`).sort());
  for (const table of found) expect(table.Properties.BillingMode).toBe('PAY_PER_REQUEST');
});

test.each(tableNames)(
  'OPS-1 the table %s has the keys, the time to live and the stream it is described with',
  (name) => {
    const { partitionKey, sortKey, timeToLiveAttribute, stream } = tables[name];
    const { Properties } = tableOf(prod, name);
    expect(Properties.KeySchema).toEqual([
      { AttributeName: partitionKey.name, KeyType: 'HASH' },
      ...(sortKey ? [{ AttributeName: sortKey.name, KeyType: 'RANGE' }] : []),
    ]);
    expect(Properties.TimeToLiveSpecification).toEqual(
      timeToLiveAttribute && { Enabled: true, AttributeName: timeToLiveAttribute },
    );
    expect(Properties.StreamSpecification).toEqual(stream && { StreamViewType: stream });
  },
);

test('the accounts are indexed for the sweep', () => {
  expect(tableOf(prod, 'accounts').Properties.GlobalSecondaryIndexes).toMatchObject([
    {
      IndexName: 'sweep',
      KeySchema: [
        { AttributeName: 'shard', KeyType: 'HASH' },
        { AttributeName: 'sweepAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ]);
});

test('VID-8 the videos are listed by account, and those that run by the time they are due, in sparse indexes', () => {
  expect(tableOf(prod, 'videos').Properties.GlobalSecondaryIndexes).toMatchObject([
    {
      IndexName: 'account',
      KeySchema: [
        { AttributeName: 'listedFor', KeyType: 'HASH' },
        { AttributeName: 'createdAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: 'running',
      KeySchema: [
        { AttributeName: 'running', KeyType: 'HASH' },
        { AttributeName: 'dueAt', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ]);
});

test('in prod, money, keys and jobs outlive the stack, refuse deletion and can be restored to any second', () => {
  for (const name of ['accounts', 'keys', 'videos']) {
    const table = tableOf(prod, name);
    expect([table.DeletionPolicy, table.UpdateReplacePolicy], name).toEqual(['Retain', 'Retain']);
    expect(table.Properties.Replicas, name).toMatchObject([
      { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ]);
  }
  for (const name of ['idempotency', 'counters']) expect(tableOf(prod, name).DeletionPolicy, name).toBe('Delete');
});

test('in dev everything goes with its stack but the bucket', () => {
  for (const name of tableNames) {
    expect(tableOf(dev, name).DeletionPolicy, name).toBe('Delete');
    expect(tableOf(dev, name).Properties.Replicas, name).toMatchObject([{ DeletionProtectionEnabled: false }]);
  }
  for (const name of secretNames) expect(secretOf(dev, name).DeletionPolicy, name).toBe('Delete');
  expect(only(dev, 'AWS::S3::Bucket').DeletionPolicy).toBe('Retain');
});

test('the bucket is encrypted, kept, and has one owner', () => {
  const bucket = only(prod, 'AWS::S3::Bucket');
  expect(bucket.DeletionPolicy).toBe('Retain');
  expect(bucket.Properties).toMatchObject({
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
  });
});

test('the bucket refuses TLS before 1.2', () => {
  const denied = { Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' } };
  expect(only(prod, 'AWS::S3::BucketPolicy').Properties.PolicyDocument).toMatchObject({
    Statement: expect.arrayContaining([
      expect.objectContaining({ ...denied, Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }),
    ]),
  });
});

test('IMG-6 lifecycle removes what has expired and unfinished uploads, never a note of the outbox', () => {
  const { LifecycleConfiguration } = only(prod, 'AWS::S3::Bucket').Properties;
  const expiring = ['media/', 'videos/', 'answers/', 'inputs/'].map((Prefix) =>
    expect.objectContaining({ Prefix, ExpirationInDays: 2 }),
  );
  expect(LifecycleConfiguration).toEqual({
    Rules: [expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }), ...expiring],
  });
});

// Any other value here would make CloudFormation draw new secrets: the pepper of every key, and the vendors' keys, would be gone.
test('the secrets are drawn once, in AWS, are kept, and no value is in the template', () => {
  expect(ofType(prod, 'AWS::SecretsManager::Secret').map(nameOf).sort()).toEqual(secretNames.toSorted());
  for (const name of secretNames) expect(secretOf(prod, name).DeletionPolicy, name).toBe('RetainExceptOnCreate');
  const drawn = (length: number) => ({ PasswordLength: length, ExcludePunctuation: true });
  expect(secretOf(prod, 'key-pepper').Properties.GenerateSecretString).toEqual(drawn(64));
  // Without punctuation there is no colon in it: nobody takes it for a token.
  expect(secretOf(prod, 'bot-token').Properties.GenerateSecretString).toEqual(drawn(32));
  expect(secretOf(prod, 'top-up-key').Properties.GenerateSecretString).toEqual(drawn(64));
  expect(secretOf(prod, 'origin-secret').Properties.GenerateSecretString).toEqual(drawn(48));
  expect(secretOf(prod, 'provider-keys').Properties.GenerateSecretString).toEqual({
    SecretStringTemplate: '{}',
    GenerateStringKey: 'drawn',
  });
  expect(JSON.stringify(prod.template.toJSON())).not.toContain('"SecretString"');
});

test('the outputs name every table, the bucket and the secrets', () => {
  const secrets = ['keyPepper', 'providerKeys', 'botToken', 'topUpKey', 'originSecret'];
  expect(Object.keys(prod.outputs)).toEqual(
    expect.arrayContaining([
      ...tableNames.map((name) => `${name}TableName`),
      'mediaBucketName',
      ...secrets.map((name) => `${name}SecretArn`),
    ]),
  );
});
