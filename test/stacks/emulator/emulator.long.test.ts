import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetBucketEncryptionCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createClients, createDatabases } from '../../../lambdas/functions/wiring/clients.ts';
import { createAccountStore } from '../../../lambdas/stores/dynamodb/account-store.ts';
import { createKeyStore } from '../../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../../lambdas/stores/dynamodb/ledger-store.ts';
import { environments, parseEnvironment } from '../../../lib/environments.ts';
import { GatewayStage } from '../../../lib/gateway-stage.ts';
import { type TableName, tableNames, tables } from '../../../lib/tables.ts';
import { startSimulator } from '../../../local/simulators/server.ts';
import { startInProcess } from '../../support/in-process-gateway.ts';
import { newApp } from '../synthesize.ts';
import { type DeployedStack, deployStacks, emulated } from './deploy-stacks.ts';
import { hasMoto, type Moto, startMoto } from './moto.ts';

/** Types that moto 5.2.5 does not create from a template, and permissions of an alias. Nothing here proves anything about them. */
const notCreated: Readonly<Record<'cloudfront' | 'api-gateway', readonly string[]>> = {
  cloudfront: [
    'AWS::Budgets::Budget',
    'AWS::CloudFront::Distribution',
    'AWS::CloudFront::Function',
    'AWS::CloudFront::OriginAccessControl',
    'AWS::CloudFront::OriginRequestPolicy',
    'AWS::CloudWatch::Alarm',
    'AWS::CloudWatch::CompositeAlarm',
    'AWS::Lambda::Alias',
    'AWS::Lambda::EventInvokeConfig',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Url',
    'AWS::Lambda::Version',
    'AWS::Lambda::WebFunction',
    'AWS::Lambda::WebFunctionEndpoint',
    'AWS::Lambda::WebFunctionRevision',
    'AWS::Logs::Delivery',
    'AWS::Logs::DeliveryDestination',
    'AWS::Logs::DeliverySource',
    'AWS::S3::BucketPolicy',
    'AWS::SNS::TopicPolicy',
    'AWS::SQS::QueuePolicy',
    'AWS::SSM::Parameter',
    'AWS::SecretsManager::Secret',
    'AWS::WAFv2::LoggingConfiguration',
    'AWS::WAFv2::WebACL',
    'Custom::S3ObjectCopy',
  ],
  'api-gateway': [
    'AWS::ApiGateway::Account',
    'AWS::ApiGateway::Deployment',
    'AWS::ApiGateway::Stage',
    'AWS::Budgets::Budget',
    'AWS::CloudWatch::Alarm',
    'AWS::CloudWatch::CompositeAlarm',
    'AWS::Lambda::Alias',
    'AWS::Lambda::EventInvokeConfig',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Version',
    'AWS::S3::BucketPolicy',
    'AWS::SNS::TopicPolicy',
    'AWS::SQS::QueuePolicy',
    'AWS::SSM::Parameter',
    'AWS::SecretsManager::Secret',
    'AWS::WAFv2::LoggingConfiguration',
    'AWS::WAFv2::WebACL',
    'AWS::WAFv2::WebACLAssociation',
  ],
};

const motoTest = describe.skipIf(!hasMoto);

motoTest.each(['cloudfront', 'api-gateway'] as const)(
  hasMoto ? 'dev behind %s in moto' : 'skipped: moto_server is not installed: %s',
  (frontDoor) => {
    let moto: Moto;
    let stacks: ReadonlyMap<string, DeployedStack>;
    beforeAll(async () => {
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
      moto = await startMoto();
      const environment = parseEnvironment({ ...environments.dev, frontDoor });
      stacks = await deployStacks(moto.url, new GatewayStage(newApp(), 'dev', environment));
    });
    afterAll(async () => {
      vi.unstubAllEnvs();
      await moto?.stop();
    });

    const outputOf = (name: string): string => stacks.get('gateway-dev-data')?.outputs.get(name) ?? '';
    const tableNameOf = (name: TableName): string => outputOf(`${name}TableName`);

    test('OPS-1 every stack is CREATE_COMPLETE, and the types that moto lacks are known', () => {
      for (const [name, { status, reason }] of stacks)
        expect([name, status, reason]).toEqual([name, 'CREATE_COMPLETE', reason]);
      const unknown = new Set([...stacks.values()].flatMap((stack) => [...stack.unknown.keys()]));
      expect([...unknown].sort()).toEqual(notCreated[frontDoor].toSorted());
      const created = [...stacks.values()].flatMap((stack) => [...stack.createdTypes.values()]);
      expect(created.reduce((sum, number) => sum + number, 0)).toBeGreaterThan(80);
    });

    test.each(tableNames)('OPS-1 the table %s has the keys, indexes and stream of its description', async (name) => {
      const client = new DynamoDBClient(emulated(moto.url));
      const { Table } = await client.send(new DescribeTableCommand({ TableName: tableNameOf(name) }));
      client.destroy();
      const { partitionKey, sortKey, indexes, stream } = tables[name];
      const keysOf = (keys: {
        readonly KeySchema?: readonly { readonly AttributeName?: string | undefined }[] | undefined;
      }) => (keys.KeySchema ?? []).map(({ AttributeName }) => AttributeName);
      expect(keysOf(Table ?? {})).toEqual([partitionKey.name, ...(sortKey ? [sortKey.name] : [])]);
      expect(
        (Table?.GlobalSecondaryIndexes ?? []).map((index) => [
          index.IndexName,
          index.Projection?.ProjectionType,
          ...keysOf(index),
        ]),
      ).toEqual(
        indexes.map((index) => [
          index.name,
          index.projection,
          index.partitionKey.name,
          ...(index.sortKey ? [index.sortKey.name] : []),
        ]),
      );
      expect(Table?.StreamSpecification?.StreamViewType).toBe(stream);
      expect(Table?.BillingModeSummary?.BillingMode).toBe('PAY_PER_REQUEST');
    });

    test('OPS-1 the bucket is encrypted, and failed changes of accounts are kept for two weeks', async () => {
      const s3 = new S3Client({ ...emulated(moto.url), forcePathStyle: true });
      const { ServerSideEncryptionConfiguration: encryption } = await s3.send(
        new GetBucketEncryptionCommand({ Bucket: outputOf('mediaBucketName') }),
      );
      s3.destroy();
      expect(encryption?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256');
      const QueueUrl = `${moto.url}/123456789012/gateway-dev-failed-account-changes`;
      expect(await askQueue(moto.url, { QueueUrl, AttributeNames: ['All'] })).toMatchObject({
        Attributes: { MessageRetentionPeriod: String(14 * 86_400), SqsManagedSseEnabled: 'true' },
      });
    });

    test('BILL-1 the gateway charges a chat on the tables of these stacks', async () => {
      const clients = createClients({ endpoint: moto.url, region: 'us-east-1' });
      const db = createDatabases(clients);
      const names = Object.fromEntries(tableNames.map((name) => [name, tableNameOf(name)])) as Record<
        TableName,
        string
      >;
      const stores = {
        ledgerStore: createLedgerStore(db, names.accounts, 'packed'),
        ledgerRecords: createLedgerRecords(db.repeating, names.accounts),
        accounts: createAccountStore(db.repeating, names),
        keys: createKeyStore(db, names),
      };
      const vendor = await startSimulator();
      const gateway = await startInProcess({
        vendorUrl: vendor.url,
        environment: { FRONT_DOOR: 'none' },
        now: Date.now,
        change: () => stores,
      });
      try {
        const { accountId, apiKey } = await gateway.issue();
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'gpt-4.1-mini',
            max_tokens: 50,
            messages: [{ role: 'user', content: 'hello' }],
          }),
        });
        expect([response.status, await response.json()]).toMatchObject([200, { object: 'chat.completion' }]);
        const account = await stores.ledgerStore.readAccount(accountId);
        expect(account?.holds.size).toBe(0);
        expect(account?.spentPicos).toBeGreaterThan(0n);
        const { records } = await stores.ledgerRecords.listRecords(accountId, { limit: 10 });
        expect(records.map(({ amountPicos }) => amountPicos)).toContain(account?.spentPicos);
      } finally {
        await gateway.stop();
        await vendor.stop();
        clients.once.destroy();
        clients.repeating.destroy();
      }
    });
  },
);

/** Reads attributes of a queue. Moto reads service and region from the header, and checks no signature. */
const askQueue = async (url: string, body: object): Promise<unknown> => {
  const response = await fetch(`${url}/`, {
    method: 'POST',
    headers: {
      'x-amz-target': 'AmazonSQS.GetQueueAttributes',
      'content-type': 'application/x-amz-json-1.0',
      authorization:
        'AWS4-HMAC-SHA256 Credential=test/20261126/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=x',
    },
    body: JSON.stringify(body),
  });
  return response.json();
};
