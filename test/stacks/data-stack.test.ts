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

test('OPS-1 every description has one table, which is billed on demand', () => {
  const found = ofType(prod, 'AWS::DynamoDB::GlobalTable');
  expect(found.map(nameOf).sort()).toEqual(tableNames.map((name) => `${name}-table`).sort());
  for (const table of found) expect(table.Properties.BillingMode).toBe('PAY_PER_REQUEST');
});

test.each(tableNames)('OPS-1 the table %s has the keys, expiry and stream of its description', (name) => {
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
});

test('the accounts table has an index for the sweep', () => {
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

test('VID-8 sparse indexes list the videos of an account, and the running videos by due time', () => {
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

test('in prod, money, keys and jobs outlive the stack and have point-in-time recovery', () => {
  for (const name of ['accounts', 'keys', 'videos']) {
    const table = tableOf(prod, name);
    expect([table.DeletionPolicy, table.UpdateReplacePolicy], name).toEqual(['Retain', 'Retain']);
    expect(table.Properties.Replicas, name).toMatchObject([
      { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ]);
  }
  for (const name of ['idempotency', 'counters']) expect(tableOf(prod, name).DeletionPolicy, name).toBe('Delete');
});

test('in dev, only the bucket outlives its stack', () => {
  for (const name of tableNames) {
    expect(tableOf(dev, name).DeletionPolicy, name).toBe('Delete');
    expect(tableOf(dev, name).Properties.Replicas, name).toMatchObject([{ DeletionProtectionEnabled: false }]);
  }
  for (const name of secretNames) expect(secretOf(dev, name).DeletionPolicy, name).toBe('Delete');
  expect(only(dev, 'AWS::S3::Bucket').DeletionPolicy).toBe('Retain');
});

test('the bucket is encrypted and retained, and has one owner', () => {
  const bucket = only(prod, 'AWS::S3::Bucket');
  expect(bucket.DeletionPolicy).toBe('Retain');
  expect(bucket.Properties).toMatchObject({
    BucketEncryption: {
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    },
    OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
  });
});

test('the bucket rejects TLS before 1.2', () => {
  const denied = { Effect: 'Deny', Action: 's3:*', Principal: { AWS: '*' } };
  expect(only(prod, 'AWS::S3::BucketPolicy').Properties.PolicyDocument).toMatchObject({
    Statement: expect.arrayContaining([
      expect.objectContaining({ ...denied, Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }),
    ]),
  });
});

test('IMG-6 lifecycle rules delete expired objects and unfinished uploads, but no outbox entry', () => {
  const { LifecycleConfiguration } = only(prod, 'AWS::S3::Bucket').Properties;
  const expiring = ['media/', 'videos/', 'answers/', 'inputs/'].map((Prefix) =>
    expect.objectContaining({ Prefix, ExpirationInDays: 2, NoncurrentVersionExpiration: { NoncurrentDays: 1 } }),
  );
  expect(LifecycleConfiguration).toEqual({
    Rules: [
      expect.objectContaining({ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
      ...expiring,
      expect.objectContaining({
        Prefix: 'outbox/',
        NoncurrentVersionExpiration: { NoncurrentDays: 35 },
        ExpiredObjectDeleteMarker: true,
      }),
      expect.objectContaining({ Prefix: 'pages/', NoncurrentVersionExpiration: { NoncurrentDays: 1 } }),
    ],
  });
});

test('OPS-16 the bucket keeps versions, and no function can read or delete one', () => {
  expect(only(prod, 'AWS::S3::Bucket').Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
  for (const stack of [synthesize('prod').api, synthesize('prod').video]) {
    const policies = ofType(stack, 'AWS::IAM::Policy').map((policy) => JSON.stringify(policy.Properties));
    for (const policy of policies.filter((text) => !text.includes('cdk-hnb659fds')))
      expect(policy).not.toMatch(/s3:(Get|Delete)ObjectVersion"/);
  }
});

// Any other value makes CloudFormation generate new secrets, which loses the pepper of every API key and the provider
// keys.
test('the secrets are generated once in AWS and retained, and no template contains a value', () => {
  expect(ofType(prod, 'AWS::SecretsManager::Secret').map(nameOf).sort()).toEqual(['canary-key', ...secretNames].sort());
  for (const name of secretNames) expect(secretOf(prod, name).DeletionPolicy, name).toBe('RetainExceptOnCreate');
  const drawn = (length: number) => ({ PasswordLength: length, ExcludePunctuation: true });
  expect(secretOf(prod, 'key-pepper').Properties.GenerateSecretString).toEqual(drawn(64));
  // Without punctuation the value has no colon, so it cannot be a bot token.
  expect(secretOf(prod, 'bot-token').Properties.GenerateSecretString).toEqual(drawn(32));
  expect(secretOf(prod, 'top-up-key').Properties.GenerateSecretString).toEqual(drawn(64));
  expect(secretOf(prod, 'origin-secret').Properties.GenerateSecretString).toEqual(drawn(48));
  expect(secretOf(prod, 'provider-keys').Properties.GenerateSecretString).toEqual({
    SecretStringTemplate: '{}',
    GenerateStringKey: 'drawn',
  });
  expect(JSON.stringify(prod.template.toJSON())).not.toContain('"SecretString"');
});

test('OPS-13 the secret of the canary starts without an API key, and ends with its environment', () => {
  const secret = secretOf(prod, 'canary-key');
  expect(secret.DeletionPolicy).toBe('Delete');
  // An API key has 60 characters and a hyphen.
  expect(secret.Properties.GenerateSecretString).toEqual({ PasswordLength: 32, ExcludePunctuation: true });
  expect(Object.keys(prod.outputs)).toContain('canaryKeySecretArn');
  expect(secretOf(dev, 'canary-key')).toBeUndefined();
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
