import { rmSync } from 'node:fs';
import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { type CheckDependencies, runCheck } from '../../../bin/check-deployed/check-deployment.ts';
import { createDatabases, createS3Client } from '../../../lambdas/functions/wiring/clients.ts';
import { createAccountStore } from '../../../lambdas/stores/dynamodb/account-store.ts';
import { createKeyStore } from '../../../lambdas/stores/dynamodb/key-store.ts';
import { createLedgerRecords } from '../../../lambdas/stores/dynamodb/ledger-records.ts';
import { createLedgerStore } from '../../../lambdas/stores/dynamodb/ledger-store.ts';
import { createMediaStore } from '../../../lambdas/stores/s3/files.ts';
import { openDataFolder } from '../../../local/data-folder.ts';
import { localMediaBucket, startS3 } from '../../../local/emulators/s3.ts';
import { startSimulator } from '../../../local/simulators/server.ts';
import { openTestTables } from '../../support/dynamodb.ts';
import { type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';
import { newFolder } from '../../support/program.ts';
import { startScriptedAws } from '../../support/scripted-aws.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';
import type { Front } from './local-fronts.ts';

export const SECRET = 'the-origin-secret-of-this-test';
const PUBLIC_URL = 'https://gateway.example';
export const MACHINE = '203.0.113.7';
export const BOT_TOKEN = '123456:a-token-of-this-test';
export const CANARY_SECRET = 'arn:aws:secretsmanager:us-east-1:123456789012:secret:canary';
export const READ_ONLY_SECRET = `${CANARY_SECRET}-read-only`;

/** A request on its way from the check. A test can replace its response. */
export type Intercept = (url: URL, init: RequestInit) => Response | Promise<Response> | undefined;

/** Starts a local front door of the gateway. */
export type StartFront = (gateway: InProcessGateway) => Promise<Front>;

/**
 * Opens the environment dev as AWS would have it behind CloudFront: tables, bucket, secrets and outputs in emulators, and
 * the gateway on the same tables and bucket in this process. With `startFront`, requests to the public URL go through that
 * front; without it, they go to the gateway with the headers that CloudFront adds.
 */
export const openDeployedScene = async (
  url = PUBLIC_URL,
  startFront?: StartFront,
  frontDoor: 'cloudfront' | 'api-gateway' = 'cloudfront',
) => {
  const tables = await openTestTables();
  const { endpoint, names } = tables;
  const folder = newFolder();
  const bucket = await startS3(openDataFolder(folder));
  const s3 = await createS3Client({ endpoint: bucket.endpoint, region: 'us-east-1' });
  const vendor = await startSimulator();
  const db = createDatabases(tables.clients);
  const stores = {
    ledgerStore: createLedgerStore(db, names.accounts, 'packed'),
    ledgerRecords: createLedgerRecords(db.repeating, names.accounts),
    accounts: createAccountStore(db.repeating, names),
    keys: createKeyStore(db, names),
    media: createMediaStore(async () => s3, localMediaBucket),
  };
  const gateway = await startInProcess({
    vendorUrl: vendor.url,
    environment:
      frontDoor === 'cloudfront' ? { FRONT_DOOR: frontDoor, ORIGIN_SECRET: SECRET } : { FRONT_DOOR: frontDoor },
    now: Date.now,
    change: () => stores,
  });
  const front = await startFront?.(gateway);
  const publicUrl = front?.url ?? url;
  const machine = front ? '127.0.0.1' : MACHINE;
  const secrets: Record<string, string> = {
    'arn:pepper': gateway.pepper,
    'arn:keys': '{"OPENAI_API_KEY":"vendor-secret"}',
    'arn:bot': BOT_TOKEN,
    'arn:top-up': 'a key of the payments',
    [CANARY_SECRET]: 'the generated value of the secret',
    [READ_ONLY_SECRET]: 'the generated value of the secret',
  };
  // The process keeps one client of Secrets Manager, whose URL another test may have chosen.
  const mock = mockClient(SecretsManagerClient);
  mock.on(GetSecretValueCommand).callsFake(({ SecretId }) => ({ SecretString: secrets[SecretId] }));
  mock.on(PutSecretValueCommand).callsFake(({ SecretId, SecretString }) => {
    if (SecretId === READ_ONLY_SECRET) throw new Error('not allowed');
    secrets[SecretId] = SecretString;
    return {};
  });
  const data: Record<string, string> = {
    ...Object.fromEntries(Object.entries(names).map(([table, name]) => [`${table}TableName`, name])),
    mediaBucketName: localMediaBucket,
    keyPepperSecretArn: 'arn:pepper',
    providerKeysSecretArn: 'arn:keys',
    botTokenSecretArn: 'arn:bot',
    topUpKeySecretArn: 'arn:top-up',
  };
  const api = {
    catalogUrl: 'https://catalog.example/',
    textUrl: 'https://text.example/',
    queueUrl: 'https://q.example/',
  };
  const aws = await startScriptedAws({
    stacks: { 'gateway-dev-data': data, 'gateway-dev-api': api },
    secrets,
    parameters: { '/gateway-dev/public-url': `${publicUrl}/` },
    webhook: { url: `${publicUrl}/bot`, pending_update_count: 0 },
  });
  const environment = {
    BOT_API_URL: aws.url,
    DYNAMODB_ENDPOINT: endpoint,
    S3_ENDPOINT: bucket.endpoint,
    MARKUP: '1',
  };
  /** Variables that the SDK reads from the process. */
  const variables = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL_CLOUDFORMATION: aws.url,
    AWS_ENDPOINT_URL_SSM: aws.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
  };

  /** The network of the test: the edge, the function URLs, and the address of this machine. */
  const send =
    (intercept: Intercept): typeof fetch =>
    async (input, init = {}) => {
      const sent = new URL(String(input));
      const replaced = intercept(sent, init);
      if (replaced) return replaced;
      if (sent.hostname === 'checkip.amazonaws.com') return new Response(`${machine}\n`);
      if (sent.origin === front?.url) return fetch(input, init);
      const headers = new Headers(init.headers);
      if (sent.origin === PUBLIC_URL) {
        headers.set('x-client-ip', MACHINE);
        headers.set('x-origin-secret', SECRET);
      }
      return fetch(`${gateway.url}${sent.pathname}`, { ...init, headers });
    };
  const check = async (
    args: string,
    intercept: Intercept = () => undefined,
    interrupts: CheckDependencies['interrupts'] = process,
  ) => {
    const { terminal, written } = scriptedTerminal(environment);
    const status = await runCheck(args.split(' '), terminal, { send: send(intercept), interrupts });
    return { status, ...written };
  };
  return {
    gateway,
    front,
    stores,
    secrets,
    data,
    api,
    environment,
    variables,
    check,
    stop: async (): Promise<void> => {
      mock.restore();
      await front?.stop();
      await gateway.stop();
      await aws.stop();
      s3.destroy();
      await bucket.stop();
      await vendor.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
